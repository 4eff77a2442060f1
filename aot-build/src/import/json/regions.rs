//! The graphs that nodes of control flow run.

use super::format::{NodeEntry, RegionEntry};
use super::nodes::{self, Reader};
use crate::error::{Location, Problem};
use crate::graph::GraphBuilder;
use crate::ops::{Op, Region};

impl<'a> Reader<'_, 'a> {
    /// Gives an operator its regions; `None` where they have a problem.
    pub(super) fn regions(
        &mut self,
        op: Option<Op>,
        entry: &NodeEntry<'a>,
        location: &Location,
    ) -> Option<Op> {
        let mut op = op?;
        let Some(list) = &entry.regions else {
            let expected = op.regions().len();
            if expected > 0 {
                let message = format!("{location}`regions` is missing, expected {expected}");
                self.findings.add(entry.op.place, Problem::new(message));
                return None;
            }
            return Some(op);
        };
        let entries: Vec<RegionEntry<'a>> = self.findings.read(list.json, location)?;
        let (found, expected) = (entries.len(), op.regions().len());
        if found != expected {
            let message = format!("{location}{found} regions, expected {expected}");
            self.findings.add(list.json, Problem::new(message));
            return None;
        }
        if self.depth == GraphBuilder::MAX_DEPTH {
            let message =
                format!("{location}regions within regions are deeper than {}", GraphBuilder::MAX_DEPTH);
            self.findings.add(list.json, Problem::new(message));
            return None;
        }
        // All are looked at, so that all problems are found.
        let graphs: Vec<_> = entries.into_iter().map(|entry| self.region(entry)).collect();
        for (region, graph) in op.regions_mut().iter_mut().zip(graphs) {
            *region = graph?;
        }
        Some(op)
    }

    fn region(&mut self, entry: RegionEntry<'a>) -> Option<Region> {
        let graph = nodes::graph(String::new(), entry, None, self.depth + 1, self.source, self.findings);
        graph.map(Region::from)
    }
}
