//! Boards that QEMU has, and how images are linked for them.

use aot_build::Compiled;

use crate::images::Level;

/// A processor, on a board that QEMU has.
pub(crate) struct Board {
    /// Name in the tables.
    pub(crate) name: &'static str,
    /// Name of the machine in QEMU.
    pub(crate) machine: &'static str,
    /// Target of the compiler.
    pub(crate) target: &'static str,
    /// Processor of the compiler.
    pub(crate) cpu: &'static str,
    /// Where constants and code are, unless all is in RAM.
    flash: Option<Region>,
    ram: Region,
    /// Frequency of the counter of instructions.
    clock: Clock,
}

/// A piece of the address space, its size in KiB.
struct Region {
    origin: u32,
    kib: u32,
}

/// What an image counts with.
enum Clock {
    /// SysTick at so many MHz, where QEMU takes 64 ns for an instruction.
    SysTick { mhz: u64 },
    /// Instructions themselves.
    Retired,
}

const fn region(origin: u32, kib: u32) -> Region {
    Region { origin, kib }
}

/// The board whose images have no kernels in assembly.
const PORTABLE: &str = "M4F portable";

const M4F: Board = Board {
    name: "M4F",
    machine: "mps2-an386",
    target: "thumbv7em-none-eabihf",
    cpu: "cortex-m4",
    flash: Some(region(0, 1024)),
    ram: region(0x2000_0000, 256),
    clock: Clock::SysTick { mhz: 25 },
};

/// The sizes are those of usual parts, so that what is too large does not link.
pub(crate) const BOARDS: [Board; 9] = [
    Board {
        name: "M0",
        machine: "microbit",
        target: "thumbv6m-none-eabi",
        cpu: "cortex-m0",
        flash: Some(region(0, 256)),
        ram: region(0x2000_0000, 16),
        clock: Clock::SysTick { mhz: 16 },
    },
    // Code of the M0+ on a larger board, for models that the other one has no room for.
    Board {
        name: "M0+",
        machine: "mps2-an385",
        target: "thumbv6m-none-eabi",
        cpu: "cortex-m0plus",
        flash: Some(region(0, 1024)),
        ram: region(0x2000_0000, 256),
        clock: Clock::SysTick { mhz: 25 },
    },
    Board {
        name: "M3",
        machine: "mps2-an385",
        target: "thumbv7m-none-eabi",
        cpu: "cortex-m3",
        flash: Some(region(0, 1024)),
        ram: region(0x2000_0000, 256),
        clock: Clock::SysTick { mhz: 25 },
    },
    M4F,
    // The same, with kernels in plain Rust.
    Board { name: PORTABLE, ..M4F },
    Board {
        name: "M7",
        machine: "mps2-an500",
        target: "thumbv7em-none-eabihf",
        cpu: "cortex-m7",
        flash: Some(region(0, 1024)),
        ram: region(0x2000_0000, 256),
        clock: Clock::SysTick { mhz: 25 },
    },
    Board {
        name: "M33",
        machine: "mps2-an505",
        target: "thumbv8m.main-none-eabihf",
        cpu: "cortex-m33",
        flash: Some(region(0x1000_0000, 1024)),
        ram: region(0x3800_0000, 256),
        clock: Clock::SysTick { mhz: 20 },
    },
    Board {
        name: "M55",
        machine: "mps3-an547",
        target: "thumbv8m.main-none-eabihf",
        cpu: "cortex-m55",
        flash: Some(region(0, 512)),
        ram: region(0x2000_0000, 256),
        clock: Clock::SysTick { mhz: 32 },
    },
    Board {
        name: "RV32",
        machine: "virt",
        target: "riscv32imc-unknown-none-elf",
        cpu: "generic-rv32",
        flash: None,
        ram: region(0x8000_0000, 2048),
        clock: Clock::Retired,
    },
];

impl Board {
    fn is_arm(&self) -> bool {
        self.target.starts_with("thumb")
    }

    /// The program and its arguments, but for the image.
    pub(crate) fn emulator(&self) -> (&'static str, Vec<&'static str>) {
        let (program, mut arguments) = if self.is_arm() {
            ("qemu-system-arm", vec!["-icount", "shift=6,align=off,sleep=off"])
        } else {
            let cpu = ["-cpu", "rv32", "-bios", "none"];
            ("qemu-system-riscv32", [&["-icount", "shift=0,align=off,sleep=off"], &cpu[..]].concat())
        };
        arguments.extend(["-M", self.machine, "-nographic", "-monitor", "none", "-serial", "none"]);
        arguments.extend(["-semihosting-config", "enable=on,target=native", "-kernel"]);
        (program, arguments)
    }

    /// Instructions in so many ticks. A tick is less than an instruction.
    pub(crate) fn instructions(&self, ticks: u64) -> u64 {
        match self.clock {
            Clock::SysTick { mhz } => ticks * 1000 / (64 * mhz),
            Clock::Retired => ticks,
        }
    }

    /// The levels at which images are built for it.
    pub(crate) fn levels(&self) -> &'static [Level] {
        if self.name == "M4F" { &[Level::Speed, Level::Size] } else { &[Level::Speed] }
    }

    /// Whether the model fits, with some code and some stack.
    pub(crate) fn has_room(&self, compiled: &Compiled) -> bool {
        let flash = compiled.program.constants.bytes().len() + (16 << 10);
        let ram = compiled.arena_bytes + (2 << 10);
        let fits = |bytes: usize, region: &Region| bytes >> 10 < region.kib as usize;
        fits(ram, &self.ram) && self.flash.as_ref().is_none_or(|region| fits(flash, region))
    }

    /// Whether the comparison of kernels fits, with two forms of weights on the stack. What does
    /// not has a larger board with the same code.
    pub(crate) fn has_room_for_kernels(&self) -> bool {
        self.ram.kib >= 32
    }

    /// The linker's `memory.x`.
    pub(crate) fn memory(&self) -> String {
        let line = |name: &str, region: &Region| {
            format!("  {name} : ORIGIN = {:#x}, LENGTH = {}K\n", region.origin, region.kib)
        };
        if let Some(flash) = &self.flash {
            return format!("MEMORY {{\n{}{}}}\n", line("FLASH", flash), line("RAM", &self.ram));
        }
        let places = ["TEXT", "RODATA", "DATA", "BSS", "HEAP", "STACK"];
        let aliases: String =
            places.iter().map(|place| format!("REGION_ALIAS(\"REGION_{place}\", RAM);\n")).collect();
        format!("MEMORY {{\n{}}}\n{aliases}", line("RAM", &self.ram))
    }

    /// What the compiler is told.
    pub(crate) fn flags(&self) -> Vec<String> {
        let links: &[&str] =
            if self.is_arm() { &["-Tlink.x", "--nmagic"] } else { &["-Tmemory.x", "-Tlink.x"] };
        let links = links.iter().map(|link| format!("-Clink-arg={link}"));
        let portable = (self.name == PORTABLE).then(|| "--cfg=aot_portable".to_owned());
        let flags = [format!("-Ctarget-cpu={}", self.cpu), "-Dwarnings".into()];
        flags.into_iter().chain(portable).chain(links).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(name: &str) -> &'static Board {
        BOARDS.iter().find(|board| board.name == name).unwrap()
    }

    /// A loop of two instructions, a million times, took so many ticks on each.
    #[test]
    fn ticks_become_instructions() {
        for (name, ticks, instructions) in
            [("M4F", 3_200_010, 2_000_006), ("M55", 4_096_012, 2_000_005), ("RV32", 2_000_006, 2_000_006)]
        {
            assert_eq!(board(name).instructions(ticks), instructions, "{name}");
        }
    }

    #[test]
    fn memory_is_flash_and_ram_or_one_for_all() {
        let arm =
            "MEMORY {\n  FLASH : ORIGIN = 0x0, LENGTH = 256K\n  RAM : ORIGIN = 0x20000000, LENGTH = 16K\n}\n";
        assert_eq!(board("M0").memory(), arm);
        let riscv = board("RV32").memory();
        assert!(riscv.starts_with("MEMORY {\n  RAM : ORIGIN = 0x80000000, LENGTH = 2048K\n}\n"));
        assert_eq!(riscv.matches("REGION_ALIAS").count(), 6);
    }
}
