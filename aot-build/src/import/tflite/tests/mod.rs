//! Files made by hand, damaged files, and real models.

mod arithmetic;
mod control;
mod damage;
mod entry;
mod files;
mod hostile;
mod matrices;
mod models;
mod movement;
mod operators;
mod recurrent;
mod reductions;
mod sparsity;
mod structure;
mod tensors;
mod variables;
mod writer;
