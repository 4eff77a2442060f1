// Every name of a file becomes an identifier, by the rule of `docs/names.md`; the names
// themselves are strings.
#![deny(warnings)]
use aot_macros::aot_model;
use aot_rt::Model;

aot_model!(struct Odd = "models/odd_names.json");

fn main() {
    let zero = [0.0; 2];
    let inputs = OddInputs {
        input_type: &[7.0, 8.0],
        input: &zero,
        input_1x1: &zero,
        input_2: &zero,
        input_3: &[5.0, 6.0],
        input_run_with: &zero,
        a: &[1.0, 2.0],
        input_a_mut: &[3.0, 4.0],
        a_long_name_of_which_forty_letters_and_digits_cou: &zero,
        input_a_long_name_of_which_forty_letters_and_digits_cou: &zero,
    };
    let mut odd = Odd::new();
    let OddOutputs { output_type, output_type_2, constant, output } = odd.run(inputs);
    assert_eq!((output_type, output_type_2), (&[4.0, 6.0], &[7.0, 8.0]));
    assert_eq!((constant, output), (&[0.5], &[5.0, 6.0]));
    let names = |infos: &[aot_rt::TensorInfo]| infos.iter().map(|info| info.name).collect::<Vec<_>>();
    assert_eq!(names(Odd::OUTPUTS), ["Type", "type", "constant`*/", "湿度"]);
    assert_eq!(names(Odd::INPUTS)[..5], ["type", "", "1x1", "温度", "湿度"]);
}
