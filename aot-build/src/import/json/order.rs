//! The order in which nodes can run: that of the file, as far as it can be kept.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An order of the nodes in which each comes after those it depends on; of several
/// that can come next, the first in the file does.
///
/// `dependencies[i]` are the nodes whose results node `i` reads.
///
/// # Errors
///
/// A cycle, each node depending on the one before it and the first on the last.
pub(super) fn order(dependencies: &[Vec<usize>]) -> Result<Vec<usize>, Vec<usize>> {
    let mut dependents = vec![Vec::new(); dependencies.len()];
    let mut missing: Vec<usize> = dependencies.iter().map(Vec::len).collect();
    for (node, reads) in dependencies.iter().enumerate() {
        for producer in reads {
            dependents[*producer].push(node);
        }
    }
    let mut ready: BinaryHeap<_> = (0..missing.len()).filter(|i| missing[*i] == 0).map(Reverse).collect();
    let mut order = Vec::with_capacity(missing.len());
    while let Some(Reverse(node)) = ready.pop() {
        order.push(node);
        for dependent in &dependents[node] {
            missing[*dependent] -= 1;
            if missing[*dependent] == 0 {
                ready.push(Reverse(*dependent));
            }
        }
    }
    match missing.iter().position(|missing| *missing > 0) {
        None => Ok(order),
        Some(blocked) => Err(cycle(dependencies, &missing, blocked)),
    }
}

/// A cycle among the nodes that are blocked, found by going from one to a blocked
/// one that it depends on, until one comes again.
fn cycle(dependencies: &[Vec<usize>], missing: &[usize], blocked: usize) -> Vec<usize> {
    let mut path = Vec::new();
    let mut place = vec![None; missing.len()];
    let mut next = Some(blocked);
    while let Some(node) = next {
        if let Some(start) = place[node] {
            path.drain(..start);
            break;
        }
        place[node] = Some(path.len());
        path.push(node);
        next = dependencies[node].iter().copied().find(|producer| missing[*producer] > 0);
    }
    path.reverse();
    // The first in the file comes first: the message is the same wherever the search began.
    let first = path.iter().enumerate().min_by_key(|(_, node)| **node).map_or(0, |(at, _)| at);
    path.rotate_left(first);
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_and_cycles() {
        let none: &[usize] = &[];
        for (dependencies, expect) in [
            (vec![], Ok(vec![])),
            (vec![none, none, none], Ok(vec![0, 1, 2])),
            (vec![none, &[0], &[0, 1]], Ok(vec![0, 1, 2])),
            (vec![&[2], none, &[1]], Ok(vec![1, 2, 0])),
            (vec![&[3], none, &[1, 1], none], Ok(vec![1, 2, 3, 0])),
            (vec![&[0]], Err(vec![0])),
            (vec![&[3], &[0, 2], &[1], none], Err(vec![1, 2])),
            (vec![&[1], &[2], &[3], &[1]], Err(vec![1, 3, 2])),
        ] {
            assert_eq!(order(&dependencies.iter().map(|d| d.to_vec()).collect::<Vec<_>>()), expect);
        }
    }
}
