//! Chains of layers whose outputs may overlap their inputs.
//!
//! Tensor `i` is written at step `i` and read at step `i + 1`. A layer that runs forward
//! may write `forward` bytes behind what it reads, one that runs backward `backward`
//! bytes before it; where a layer cannot run backward, the output lies clear above.

use aot_build::plan::{Buffer, BufferId, Gap, Limits, Plan, Planner, Problem, plan};

/// A tensor of a chain, and how the layer that writes it may overlap its input.
#[derive(Clone, Copy)]
struct Layer {
    size: usize,
    forward: i64,
    backward: Option<i64>,
}

const fn layer(size: usize, forward: i64, backward: Option<i64>) -> Layer {
    Layer { size, forward, backward }
}

fn add_chain(problem: &mut Problem, layers: &[Layer]) -> Vec<BufferId> {
    let mut ids: Vec<BufferId> = Vec::new();
    for (step, layer) in layers.iter().enumerate() {
        let id = problem.add(Buffer::new(layer.size, step..step + 2));
        if let Some(&input) = ids.last() {
            let input_size = layers[step - 1].size as i64;
            let above = layer.backward.map_or(input_size, |bytes| input_size - layer.size as i64 + bytes);
            problem.set_gap(id, input, Gap { below: layer.forward, above });
        }
        ids.push(id);
    }
    ids
}

fn planned(problem: &Problem) -> Plan {
    plan(problem, Planner::Optimal, &Limits::default()).unwrap()
}

/// Plans a chain; it must be proved, and with few nodes.
fn least(layers: &[Layer]) -> usize {
    let mut problem = Problem::new();
    add_chain(&mut problem, layers);
    let plan = planned(&problem);
    assert!(plan.proved(), "{} nodes, {} of {}", plan.nodes, plan.lower_bound(), plan.size());
    assert!(plan.nodes < 20_000, "{} nodes", plan.nodes);
    plan.size()
}

/// Keyword spotting: layers of 8,000 bytes that run in either direction.
#[test]
fn both_directions() {
    let mut layers = vec![layer(490, 490, None)];
    layers.extend([layer(8000, 384, Some(384)); 9]);
    layers.push(layer(64, 0, Some(8000 - 64)));
    assert_eq!(least(&layers), 8384);
}

/// The same forward only: each output lies lower than its input, down the whole chain.
#[test]
fn forward_only() {
    for (count, expected) in [(2, 8384), (9, 8000 + 8 * 384), (20, 8000 + 19 * 384), (30, 16_000)] {
        assert_eq!(least(&vec![layer(8000, 384, None); count]), expected, "{count}");
    }
}

/// Layers that run in either direction, between some that run forward only.
#[test]
fn some_forward_only() {
    let pair = [layer(8000, 384, Some(384)), layer(8000, 64, None)];
    let layers: Vec<Layer> = pair.into_iter().cycle().take(12).collect();
    assert_eq!(least(&layers), 8384);
}

/// Chains as long as networks get, with sizes that fall and rise.
#[test]
fn long_chains() {
    let mut random = 1_u64;
    let mut below = |end: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % end
    };
    for count in [30, 100, 300, 700] {
        for _ in 0..4 {
            let layers: Vec<Layer> = (0..count)
                .map(|_| {
                    let size = 16 * (1 + below(2_000)) as usize;
                    let forward = below(size as u64 / 4) as i64;
                    let backward = (below(3) > 0).then(|| below(size as u64 / 4) as i64);
                    layer(size, forward, backward)
                })
                .collect();
            least(&layers);
        }
    }
}

/// A residual connection: one tensor stays alive over several layers and is added in place.
#[test]
fn a_third_buffer_alive_over_several() {
    let layers = [layer(4096, 256, Some(256)); 6];
    let mut problem = Problem::new();
    let chain = add_chain(&mut problem, &layers);
    let skip = problem.add(Buffer::new(4096, 0..6));
    problem.set_gap(chain[5], skip, Gap { below: 0, above: 0 });
    let plan = planned(&problem);
    assert_eq!((plan.size(), plan.proved()), (2 * 4096 + 256, true));
}
