//! See `main.rs`: this package holds tests only.
