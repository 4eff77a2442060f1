//! Files made by hand, damaged files, and real models.

mod models;
