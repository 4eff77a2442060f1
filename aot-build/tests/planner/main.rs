//! The planners and the scheduler against recorded and generated problems.
//!
//! Recorded ones are read from a folder outside the repository, `/work/shared`
//! or what `AOT_SHARED` names; without it those tests say that they skip.

mod chains;
mod exhaustive;
mod pools;
mod properties;
mod schedule;
mod shared;
mod static_pools;
mod storage_tokens;
mod suites;
