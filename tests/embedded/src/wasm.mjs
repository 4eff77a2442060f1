// Runs a module on one input after the other from the file `inputs`, and writes what comes
// out to `outputs`. Arguments: the module, the bytes of an input, those of an output.
import { readFileSync, writeFileSync } from "node:fs";

const module = process.argv[1];
const [inputBytes, outputBytes] = process.argv.slice(2).map(Number);
const { instance } = await WebAssembly.instantiate(readFileSync(module));
const { memory, input, output, run } = instance.exports;
const inputs = readFileSync("inputs");
const outputs = [];
for (let start = 0; start < inputs.length; start += inputBytes) {
    new Uint8Array(memory.buffer, input(), inputBytes).set(inputs.subarray(start, start + inputBytes));
    run();
    outputs.push(Uint8Array.from(new Uint8Array(memory.buffer, output(), outputBytes)));
}
writeFileSync("outputs", Buffer.concat(outputs));
