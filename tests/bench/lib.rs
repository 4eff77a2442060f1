//! Holds nothing: the package is its benchmark.
