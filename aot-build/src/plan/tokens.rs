//! Storage tokens: whole regions handed from one tensor to the next.
//!
//! The graph planner of Apache TVM, restated: a tensor takes a token that is
//! free and about as large, or a new one; a token returns when the last reader
//! of its tensor has run. A token grows to its largest tensor and is never
//! divided.

use super::PlanError;
use super::greedy::{self, Layout, Order};
use super::model::Model;
use super::problem::PoolId;

/// A tensor of a [`TokenGraph`]: output `output` of node `node`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// Position of the node in the graph.
    pub node: usize,
    /// Position among the outputs of the node.
    pub output: usize,
}

/// What a node does with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// Its tensors exist before and after the run: inputs and constants.
    Given,
    /// Its tensors are computed from its inputs.
    Computed,
    /// Its only tensor is its first input under another shape.
    View,
}

/// A node of a [`TokenGraph`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenNode {
    /// What it does with memory.
    pub kind: TokenKind,
    /// The tensors that it reads, of earlier nodes.
    pub inputs: Vec<Value>,
    /// The bytes of each of its tensors.
    pub outputs: Vec<usize>,
    /// The device that its tensors lie on; no token serves two.
    pub device: usize,
}

/// Nodes in the order of execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenGraph {
    /// The nodes.
    pub nodes: Vec<TokenNode>,
    /// The tensors that are needed after the run.
    pub outputs: Vec<Value>,
}

/// Which token each tensor of a [`TokenGraph`] gets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StorageTokens {
    /// Of each node and each of its tensors: the token.
    pub tokens: Vec<Vec<usize>>,
    /// Of each token: its bytes.
    pub bytes: Vec<usize>,
}

/// A node reads a tensor that no earlier node has, or a view reads none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownValue {
    /// Position of the node.
    pub node: usize,
}

impl std::fmt::Display for UnknownValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "node {} reads a tensor that no earlier node has", self.node)
    }
}

impl std::error::Error for UnknownValue {}

/// A free token serves tensors from a sixteenth to sixteen times its size.
const MATCH_RANGE: usize = 16;

/// Gives each tensor of a graph a token.
pub fn storage_tokens(graph: &TokenGraph) -> Result<StorageTokens, UnknownValue> {
    let readers = count_readers(graph)?;
    let mut planner = TokenPlanner::default();
    for (node, readers) in graph.nodes.iter().zip(readers) {
        planner.visit(node, &readers);
    }
    Ok(StorageTokens { tokens: planner.tokens, bytes: planner.bytes })
}

/// How often each tensor is read, the end of the run included.
fn count_readers(graph: &TokenGraph) -> Result<Vec<Vec<usize>>, UnknownValue> {
    let mut readers: Vec<Vec<usize>> = Vec::with_capacity(graph.nodes.len());
    for (position, node) in graph.nodes.iter().enumerate() {
        let unknown = UnknownValue { node: position };
        for value in &node.inputs {
            let count = readers.get_mut(value.node).and_then(|outputs| outputs.get_mut(value.output));
            *count.ok_or(unknown.clone())? += 1;
        }
        if node.kind == TokenKind::View && (node.inputs.is_empty() || node.outputs.len() != 1) {
            return Err(unknown);
        }
        readers.push(vec![0; node.outputs.len()]);
    }
    for value in &graph.outputs {
        let count = readers.get_mut(value.node).and_then(|outputs| outputs.get_mut(value.output));
        *count.ok_or(UnknownValue { node: value.node })? += 1;
    }
    Ok(readers)
}

#[derive(Default)]
struct TokenPlanner {
    tokens: Vec<Vec<usize>>,
    bytes: Vec<usize>,
    /// Of each token: its device.
    devices: Vec<usize>,
    /// Of each token: reads of its tensor that are still to come.
    awaited: Vec<usize>,
    /// Free tokens by bytes, the longest free first among equals.
    free: Vec<usize>,
}

impl TokenPlanner {
    fn visit(&mut self, node: &TokenNode, readers: &[usize]) {
        let inputs: Vec<usize> =
            node.inputs.iter().map(|value| self.tokens[value.node][value.output]).collect();
        let outputs: Vec<usize> = match node.kind {
            // One reader more than there are: it is never free.
            TokenKind::Given => {
                let tensors = node.outputs.iter().zip(readers);
                tensors.map(|(&bytes, &readers)| self.create(bytes, node.device, readers + 1)).collect()
            }
            TokenKind::Computed => {
                let tensors = node.outputs.iter().zip(readers);
                tensors.map(|(&bytes, &readers)| self.request(bytes, node.device, readers)).collect()
            }
            TokenKind::View => {
                self.awaited[inputs[0]] += readers[0];
                vec![inputs[0]]
            }
        };
        for &token in &outputs {
            self.release_if_unread(token);
        }
        for token in inputs {
            self.awaited[token] -= 1;
            self.release_if_unread(token);
        }
        self.tokens.push(outputs);
    }

    fn create(&mut self, bytes: usize, device: usize, readers: usize) -> usize {
        self.bytes.push(bytes);
        self.devices.push(device);
        self.awaited.push(readers);
        self.bytes.len() - 1
    }

    fn request(&mut self, bytes: usize, device: usize, readers: usize) -> usize {
        let usable = |&token: &usize| self.devices[token] == device;
        let free = self.free.iter().copied().filter(usable);
        let Some(token) = best_match(free.map(|token| (self.bytes[token], token)), bytes) else {
            return self.create(bytes, device, readers);
        };
        self.free.retain(|&other| other != token);
        self.bytes[token] = self.bytes[token].max(bytes);
        self.awaited[token] = readers;
        token
    }

    fn release_if_unread(&mut self, token: usize) {
        if self.awaited[token] == 0 {
            let position = self.free.partition_point(|&other| self.bytes[other] <= self.bytes[token]);
            self.free.insert(position, token);
        }
    }
}

/// Of free tokens, sorted by bytes, the one for a tensor of `size` bytes: the
/// smallest that is large enough, else the largest that must grow, both within
/// the match range.
fn best_match(free: impl Iterator<Item = (usize, usize)>, size: usize) -> Option<usize> {
    let mut smaller = None;
    for (bytes, token) in free {
        if bytes >= size {
            return if bytes <= size.saturating_mul(MATCH_RANGE) { Some(token) } else { smaller };
        }
        if bytes >= size / MATCH_RANGE {
            smaller = Some(token);
        }
    }
    smaller
}

/// Items that share a region, one after the other.
struct Token {
    pool: PoolId,
    bytes: i64,
    alignment: i64,
    /// Bytes that alignment and gaps may cost below it.
    reserve: i64,
    items: Vec<usize>,
}

/// Places the items of a model by tokens: an item takes the token of items that
/// it does not conflict with. Items at fixed offsets stay below all tokens.
pub(super) fn place_by_tokens(model: &Model<'_>) -> Result<Layout, PlanError> {
    let mut tokens: Vec<Token> = Vec::new();
    let (fixed, free): (Vec<usize>, Vec<usize>) =
        Order::Start.items(model).into_iter().partition(|&index| model.items[index].fixed.is_some());
    let mut layout = greedy::place_in_order(model, &fixed)?;
    let mut placed: Vec<Vec<usize>> = vec![Vec::new(); model.limits.len()];
    let mut base = vec![0; model.limits.len()];
    for index in fixed {
        let (pool, offset) = layout.places[index];
        base[pool.index()] = base[pool.index()].max(offset + model.items[index].extent);
        placed[pool.index()].push(index);
    }
    for index in free {
        let place = |pool| take_token(model, &base, &mut tokens, pool, index);
        if !model.items[index].pools.iter().copied().any(place) {
            return Err(PlanError::no_room(model, index));
        }
    }
    for token in tokens {
        let below = &mut placed[token.pool.index()];
        let offsets = token.items.iter().map(|&index| greedy::above_all(model, &layout, below, index));
        // Aligned for one item and not less than that for another: the largest
        // alignment, a power of two, is a multiple of all.
        let offset = (offsets.max().unwrap_or(0) + token.alignment - 1) & -token.alignment;
        for &index in &token.items {
            layout.places[index] = (token.pool, offset);
        }
        below.extend(token.items);
    }
    Ok(layout)
}

/// Puts an item into a token of a pool, or into a new one; whether the pool has
/// room for that.
fn take_token(model: &Model<'_>, base: &[i64], tokens: &mut Vec<Token>, pool: PoolId, index: usize) -> bool {
    let item = &model.items[index];
    let used = tokens.iter().filter(|token| token.pool == pool);
    let used: i64 = used.map(|token| token.bytes + token.reserve).sum();
    let reserve = item.alignment - 1 + distance_to_others(model, index);
    let mut free: Vec<(usize, usize)> = Vec::new();
    for (position, token) in tokens.iter().enumerate().filter(|(_, token)| token.pool == pool) {
        if token.items.iter().all(|&other| model.gap(index, other).is_none()) {
            free.push((token.bytes as usize, position));
        }
    }
    free.sort_unstable();
    let room = model.limits[pool.index()] - base[pool.index()] - used;
    match best_match(free.into_iter(), item.extent as usize) {
        Some(position) => {
            let token = &mut tokens[position];
            let growth = (item.extent - token.bytes).max(0);
            let costs = (reserve - token.reserve).max(0);
            if growth + costs > room {
                return false;
            }
            token.bytes += growth;
            token.reserve += costs;
            token.alignment = token.alignment.max(item.alignment);
            token.items.push(index);
            true
        }
        None if item.extent + reserve > room => false,
        None => {
            tokens.push(Token {
                pool,
                bytes: item.extent,
                alignment: item.alignment,
                reserve,
                items: vec![index],
            });
            true
        }
    }
}

/// The most bytes that a gap puts between the item and another beside it.
fn distance_to_others(model: &Model<'_>, index: usize) -> i64 {
    if !model.items[index].declares {
        return 0;
    }
    let others = (0..model.items.len()).filter(|&other| other != index);
    let distance = |other: usize| {
        model.gap(index, other).map_or(0, |gap| {
            let below = gap.below - model.items[index].extent;
            below.max(gap.above - model.items[other].extent).max(0)
        })
    };
    others.map(distance).max().unwrap_or(0)
}
