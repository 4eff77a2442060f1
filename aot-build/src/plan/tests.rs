//! The planners on small problems whose answers are plain to see.

use super::*;

fn sizes(buffers: &[(usize, std::ops::Range<usize>)]) -> Problem {
    let mut problem = Problem::new();
    for (size, live) in buffers {
        problem.add(Buffer::new(*size, live.clone()));
    }
    problem
}

fn planned(problem: &Problem, planner: Planner) -> Plan {
    plan(problem, planner, &Limits::default()).unwrap()
}

#[test]
fn names_are_read_back() {
    for planner in Planner::ALL {
        assert_eq!(planner.to_string().parse(), Ok(planner));
    }
    let unknown = "best".parse::<Planner>().unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "there is no planner `best`; there are none, storage_tokens, greedy_by_size, greedy_by_conflicts, \
         hill_climb, optimal"
    );
}

#[test]
fn empty_problem() {
    for planner in Planner::ALL {
        let plan = planned(&Problem::new(), planner);
        assert_eq!((plan.size(), plan.lower_bound(), plan.proved()), (0, 0, true), "{planner}");
    }
}

#[test]
fn buffers_without_bytes_cost_nothing() {
    for planner in Planner::ALL {
        let plan = planned(&sizes(&[(0, 0..5), (8, 1..2), (0, 1..1), (8, 0..0)]), planner);
        let expected = if planner == Planner::None { 16 } else { 8 };
        assert_eq!((plan.size(), plan.lower_bound()), (expected, 8), "{planner}");
    }
}

#[test]
fn sizes_beyond_counting() {
    for planner in Planner::ALL {
        for problem in
            [sizes(&[(usize::MAX, 0..1)]), sizes(&[(usize::MAX / 2, 0..2), (usize::MAX / 2, 1..3)])]
        {
            assert_eq!(plan(&problem, planner, &Limits::default()), Err(PlanError::TooLarge), "{planner}");
        }
    }
}

#[test]
fn greedy_by_size_wastes_what_the_search_saves() {
    // The three large ones go first and leave no room for the long-lived small
    // ones to share.
    let problem = sizes(&[(4, 0..2), (3, 1..4), (4, 3..5), (2, 2..3), (3, 2..4)]);
    let optimal = planned(&problem, Planner::Optimal);
    assert_eq!((optimal.size(), optimal.proved()), (10, true));
}

#[test]
fn a_gap_lets_an_output_start_below_its_input() {
    let mut problem = Problem::new();
    let input = problem.add(Buffer::new(100, 0..2));
    let output = problem.add(Buffer::new(80, 1..3));
    problem.set_gap(output, input, Gap { below: 16, above: 100 });
    let plan = planned(&problem, Planner::Optimal);
    assert_eq!((plan.offset(output), plan.offset(input)), (0, 16));
    assert_eq!((plan.size(), plan.lower_bound(), plan.proved()), (116, 116, true));
}

#[test]
fn alignments_hold_where_all_sizes_are_multiples_of_three() {
    let mut problem = Problem::new();
    problem.add(Buffer::new(9, 0..1));
    problem.add(Buffer::new(3, 0..3).aligned(4));
    problem.add(Buffer::new(9, 0..2).aligned(2));
    let plan = planned(&problem, Planner::Optimal);
    assert_eq!((plan.size(), plan.proved()), (21, true));
}

#[test]
fn equal_buffers_differ_by_what_they_may_overlap() {
    // Only the first may share bytes with the third, so the order of the two
    // matters.
    let mut problem = Problem::new();
    let first = problem.add(Buffer::new(2, 3..5).aligned(2));
    problem.add(Buffer::new(2, 3..4).aligned(2));
    problem.add(Buffer::new(1, 2..3));
    let third = problem.add(Buffer::new(3, 1..4));
    problem.set_gap(first, third, Gap { below: 0, above: -4 });
    let plan = planned(&problem, Planner::Optimal);
    assert_eq!((plan.size(), plan.proved()), (5, true));
}

#[test]
fn fixed_offsets_stay() {
    let mut problem = Problem::new();
    let fixed = problem.add(Buffer::new(8, 0..4).fixed(8));
    let small = problem.add(Buffer::new(8, 1..2));
    let large = problem.add(Buffer::new(12, 2..3));
    for planner in Planner::ALL {
        let plan = planned(&problem, planner);
        assert_eq!(plan.offset(fixed), 8, "{planner}");
        if planner == Planner::Optimal {
            assert_eq!((plan.offset(small), plan.offset(large), plan.size()), (0, 16, 28));
            assert!(plan.proved());
        }
    }
}

#[test]
fn what_has_no_bytes_reaches_no_height() {
    let mut problem = sizes(&[(3, 0..1), (0, 0..1)]);
    problem.add(Buffer::new(2, 0..1).aligned(2));
    problem.add(Buffer::new(0, 0..1).fixed(6));
    let plan = planned(&problem, Planner::Optimal);
    assert_eq!((plan.size(), plan.proved()), (5, true));
}

#[test]
fn parts_of_a_buffer_move_with_it() {
    let mut problem = Problem::new();
    let joined = problem.add(Buffer::new(24, 4..6));
    let left = problem.add(Buffer::new(16, 1..5).inside(joined, 0));
    let right = problem.add(Buffer::new(8, 3..5).inside(joined, 16));
    // Alive while only the left part is: may use the bytes of the right.
    let other = problem.add(Buffer::new(8, 1..3));
    let plan = planned(&problem, Planner::Optimal);
    assert_eq!((plan.offset(joined), plan.offset(left), plan.offset(right)), (0, 0, 16));
    assert_eq!((plan.offset(other), plan.size(), plan.proved()), (16, 24, true));
}

#[test]
fn preferred_pool_first() {
    let mut problem = Problem::with_pools([Pool::limited("fast", 10)]);
    let slow = problem.add_pool(Pool::unlimited("slow"));
    let first = problem.add(Buffer::new(8, 0..2));
    let second = problem.add(Buffer::new(6, 1..3));
    let third = problem.add(Buffer::new(4, 1..3).in_pools([slow]));
    for planner in Planner::ALL {
        let plan = planned(&problem, planner);
        let pools = [first, second, third].map(|id| plan.places[id.index()].pool.index());
        assert_eq!(pools, [0, 1, 1], "{planner}");
    }
}

fn pools_of(problem: &Problem, planner: Planner) -> Vec<usize> {
    planned(problem, planner).places.iter().map(|place| place.pool.index()).collect()
}

#[test]
fn traffic_decides_who_gets_the_fast_pool() {
    let slow = Pool::unlimited("slow").costing(10);
    let mut problem = Problem::with_pools([slow, Pool::limited("fast", 10).costing(1)]);
    // The first saves most for its bytes, but then the others, which save more together,
    // have no room.
    problem.add(Buffer::new(6, 0..3).with_traffic(70));
    problem.add(Buffer::new(5, 0..2).with_traffic(50));
    problem.add(Buffer::new(5, 1..3).with_traffic(50));
    assert_eq!(pools_of(&problem, Planner::Optimal), [0, 1, 1]);
}

#[test]
fn what_fits_no_pool_is_said_to_be_impossible() {
    let pools = [Pool::limited("a", 10), Pool::limited("b", 10)];
    let add = |sizes: &[usize]| {
        let mut problem = Problem::with_pools(pools.clone());
        sizes.iter().for_each(|&size| _ = problem.add(Buffer::new(size, 0..1)));
        plan(&problem, Planner::Optimal, &Limits::default())
    };
    assert!(add(&[4, 4, 6, 6]).is_ok());
    let refused = add(&[4, 4, 4, 7]);
    assert!(matches!(refused, Err(PlanError::NoRoom { impossible: true, .. })), "{refused:?}");

    let mut problem = Problem::new();
    problem.add(Buffer::new(8, 0..2).fixed(0));
    problem.add(Buffer::new(8, 1..3).fixed(4));
    let refused = plan(&problem, Planner::Optimal, &Limits::default());
    assert!(matches!(refused, Err(PlanError::NoRoom { impossible: true, .. })), "{refused:?}");
}

/// Models that never run together live at steps of their own; state lives at all steps.
#[test]
fn models_that_never_run_together_share_all_but_their_state() {
    let mut problem = Problem::new();
    problem.add(Buffer::new(100, 0..2));
    problem.add(Buffer::new(60, 1..3));
    problem.add(Buffer::new(120, 3..5));
    problem.add(Buffer::new(30, 4..6));
    problem.add(Buffer::new(8, 0..6));
    let plan = planned(&problem, Planner::Optimal);
    assert_eq!((plan.size(), plan.proved()), (160 + 8, true));
}

/// All at once, and then one less at every step: as many sets as buffers.
#[test]
fn many_buffers_alive_together_take_no_square_of_memory() {
    let mut problem = Problem::new();
    let count = 20_000;
    for step in 0..count {
        problem.add(Buffer::new(16, step..2 * count));
        problem.add(Buffer::new(16, 0..step + 1));
    }
    let model = Model::new(&problem).unwrap();
    let items: Vec<usize> = (0..model.items.len()).collect();
    let sections = super::bounds::sections(&model, &items);
    assert_eq!(sections.len(), 1);
    assert_eq!(super::bounds::lower_bound(&model, &items, &sections), 16 * (count as i64 + 1));
}
