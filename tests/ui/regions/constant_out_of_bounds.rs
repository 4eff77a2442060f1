use aot_rt::Constants;

static WEIGHTS: Constants<8> = Constants::new([0; 8]);

fn main() {
    let _w = WEIGHTS.get::<f32, 4, 2>();
}
