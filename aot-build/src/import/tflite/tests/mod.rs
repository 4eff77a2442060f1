//! Files made by hand, damaged files, and real models.

mod arithmetic;
mod control;
mod damage;
mod files;
mod models;
mod movement;
mod operators;
mod structure;
mod tensors;
mod writer;
