//! Files made by hand, damaged files, and real models.

mod arithmetic;
mod damage;
mod files;
mod hostile;
mod models;
mod movement;
mod operators;
mod structure;
mod tensors;
mod variables;
mod writer;
