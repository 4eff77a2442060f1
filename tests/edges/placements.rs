//! Where inputs and outputs are.

use aot_build::config::{InputPlacement, Placement};

/// All combinations, and what they are called.
pub(crate) const PLACEMENTS: [(&str, (InputPlacement, Placement)); 4] = [
    ("workspace", (InputPlacement::Workspace, Placement::Workspace)),
    ("caller", (InputPlacement::Caller, Placement::Caller)),
    ("inputs_caller", (InputPlacement::Caller, Placement::Workspace)),
    ("outputs_caller", (InputPlacement::Workspace, Placement::Caller)),
];
