//! Times TFLite models with `tract`, one thread: median microseconds as JSON.
//!
//! `cargo run --release -- MODEL.tflite …`

use std::time::{Duration, Instant};

use tract_tflite::internal::format_err;
use tract_tflite::prelude::*;

/// Runs each model for about this long.
const BUDGET: Duration = Duration::from_secs(1);

fn main() {
    let mut results = serde_json::Map::new();
    for path in std::env::args().skip(1) {
        // tract 0.23 panics on some files that it cannot read.
        let result = match std::panic::catch_unwind(|| median_us(&path)) {
            Ok(Ok(us)) => serde_json::json!({ "tract_us": us }),
            Ok(Err(error)) => serde_json::json!({ "refused": format!("{error:#}") }),
            Err(_) => serde_json::json!({ "refused": "panicked" }),
        };
        results.insert(path, result);
    }
    println!("{}", serde_json::Value::Object(results));
}

fn median_us(path: &str) -> TractResult<f64> {
    let model = tract_tflite::tflite().model_for_path(path)?.into_optimized()?.into_runnable()?;
    let inputs = model
        .model()
        .input_outlets()?
        .iter()
        .map(|outlet| {
            let fact = model.model().outlet_fact(*outlet)?;
            let shape = fact.shape.as_concrete().ok_or_else(|| format_err!("symbolic shape"))?;
            Ok(Tensor::zero_dt(fact.datum_type, shape)?.into_tvalue())
        })
        .collect::<TractResult<TVec<_>>>()?;
    for _ in 0..3 {
        model.run(inputs.clone())?;
    }
    let (start, mut times) = (Instant::now(), Vec::new());
    while start.elapsed() < BUDGET || times.len() < 5 {
        let run = Instant::now();
        model.run(inputs.clone())?;
        times.push(run.elapsed());
    }
    times.sort_unstable();
    Ok(times[times.len() / 2].as_secs_f64() * 1e6)
}
