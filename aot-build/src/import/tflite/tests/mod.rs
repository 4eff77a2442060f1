//! Files made by hand, damaged files, and real models.

mod arithmetic;
mod damage;
mod files;
mod models;
mod movement;
mod operators;
mod reductions;
mod structure;
mod tensors;
mod writer;
