//! Snippets: conversions and movements by themselves. Each is put into a frame of the test's own,
//! assembled, and run lane by lane; where each element has to be is computed here, from bits of
//! element numbers that the test has dealt out, and nothing of the library is asked.
#![allow(missing_docs)]

mod operands;
mod panels;

use lanebook::TABLES;
use lanebook::convert::{
    Conversion, ConversionSides, ConvertError, MovedMemory, MovementKind, TileMovement,
    write_conversion, write_movement,
};
use lanebook::query::{QueryStorage, WarpSplit};
use lanebook::tables::Tables;
use lanebook_kernels::noise::Noise;
use lanebook_kernels::snippets::{Framed, Left, assemble, framed, replayed};

/// Where a bit of an element's number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Home {
    Lane(u32),
    Warp(u32),
    /// A bit of the place among the lane's registers, in bits.
    Bit(u32),
}

/// A distribution, as the test deals it out.
#[derive(Clone, Debug)]
struct Dealt {
    /// By bit of the element's number, the lowest first.
    homes: Vec<Home>,
    /// Bits of lanes, warps and places that hold copies.
    copies: Vec<Home>,
    bits: u32,
    wave: u32,
}

impl Dealt {
    fn text(&self) -> String {
        let stride = |h: &Home| match h {
            Home::Lane(b) => format!("{}@laneid", 1 << b),
            Home::Warp(b) => format!("{}@warpid", 1 << b),
            Home::Bit(b) => format!("{}@bit", 1u64 << b),
        };
        let list = |homes: &mut dyn Iterator<Item = &Home>| {
            let strides: Vec<String> = homes.map(stride).collect();
            format!("[({}):({})]", vec!["2"; strides.len()].join(","), strides.join(","))
        };
        let mut out = format!("S{}", list(&mut self.homes.iter().rev()));
        if !self.copies.is_empty() {
            out += &format!(" + R{}", list(&mut self.copies.iter()));
        }
        out
    }

    /// The element at a bit of a thread's registers, if one begins there.
    fn element(&self, thread: u32, at: u32) -> Option<u32> {
        let (lane, warp) = (thread & ((1 << self.wave) - 1), thread >> self.wave);
        let own = |h: &Home| match h {
            Home::Lane(b) => lane >> b & 1,
            Home::Warp(b) => warp >> b & 1,
            Home::Bit(b) => at >> b & 1,
        };
        let known =
            |b: u32| self.homes.contains(&Home::Bit(b)) || self.copies.contains(&Home::Bit(b));
        if (0..32).any(|b| at >> b & 1 == 1 && !known(b)) {
            return None;
        }
        Some(self.homes.iter().enumerate().map(|(k, h)| own(h) << k).sum())
    }
}

/// What an element is, bit by bit; of narrow ones a digit.
fn label(element: u32, bits: u32, digit: u32) -> u64 {
    let whole = u64::from(element) + 1;
    let wide = whole | (u64::from(element ^ 0x5a5a_5a5a) << 32);
    (wide >> (bits * digit)) & (u64::MAX >> (64 - bits))
}

/// The word that a register holds: elements where they are, else something.
fn word(element: impl Fn(u32) -> Option<u32>, register: u32, bits: u32, digit: u32) -> (u32, u32) {
    let (mut value, mut mask) = (0u32, 0u32);
    if bits == 64 {
        if let Some(e) = element(register / 2 * 64) {
            value = (label(e, 64, 0) >> (32 * (register % 2))) as u32;
            mask = u32::MAX;
        }
        return (value, mask);
    }
    for slot in 0..32 / bits {
        if let Some(e) = element(32 * register + slot * bits) {
            let ones = (u64::from(u32::MAX) >> (32 - bits)) as u32;
            value |= (label(e, bits, digit) as u32) << (slot * bits);
            mask |= ones << (slot * bits);
        }
    }
    (value | (0xdead_beef & !mask), mask)
}

fn digits(elements: u32, bits: u32) -> u32 {
    (elements.ilog2() + 1).div_ceil(bits.min(32)).max(1)
}

/// How many registers' words are wrong behind a conversion between two distributions.
fn wrong(
    framed: &Framed,
    arch: &str,
    (from, to): (&Dealt, &Dealt),
    sides: &ConversionSides,
) -> Result<usize, String> {
    let mut out = 0;
    for digit in 0..digits(1 << from.homes.len(), from.bits) {
        let given = |thread: u32, register: u32| {
            let written = sides.from.written_register(register / words(from.bits))
                * words(from.bits)
                + register % words(from.bits);
            word(|at| from.element(thread, at), written, from.bits, digit).0
        };
        let left: Left = replayed(framed, arch, given, &[])?;
        for thread in 0..framed.threads {
            for register in 0..framed.registers.1 {
                let written = sides.to.written_register(register / words(to.bits)) * words(to.bits)
                    + register % words(to.bits);
                let (value, mask) = word(|at| to.element(thread, at), written, to.bits, digit);
                assert_ne!(mask, 0, "{arch}: a register of nothing");
                out += usize::from((left.word(thread, register) ^ value) & mask != 0);
            }
        }
    }
    Ok(out)
}

/// Registers of one element.
fn words(bits: u32) -> u32 {
    bits.div_ceil(32)
}

/// Any distribution of `2^total` elements.
fn deal(noise: &mut Noise, total: u32, (wave, warps): (u32, u32), bits: u32) -> Dealt {
    let each = bits.ilog2();
    let register = each.max(5);
    // Lanes and warps that hold copies.
    let mut threads: Vec<Home> =
        (0..wave).map(Home::Lane).chain((0..warps).map(Home::Warp)).collect();
    noise.shuffle(&mut threads);
    let mut copies = Vec::new();
    while threads.len() > 2 && noise.below(4) == 0 || threads.len() as u32 > total {
        copies.extend(threads.pop());
    }
    let places = total - threads.len() as u32;
    // Elements side by side, or (sometimes, of narrow ones) one in each register.
    let alone = each < 5 && places > 0 && noise.below(6) == 0;
    let mut next = if alone { 5 } else { each };
    let mut homes = threads;
    for _ in 0..places {
        if next >= register && noise.below(7) == 0 {
            copies.push(Home::Bit(next));
            next += 1;
        }
        homes.push(Home::Bit(next));
        next += 1;
    }
    noise.shuffle(&mut homes);
    Dealt { homes, copies, bits, wave }
}

const TYPES: [(&str, u32); 8] = [
    ("i8", 8),
    ("e4m3", 8),
    ("f16", 16),
    ("bf16", 16),
    ("f32", 32),
    ("i32", 32),
    ("f64", 64),
    ("i64", 64),
];

/// A shape of `2^total` elements, of 1 to 3 dimensions.
fn shape(noise: &mut Noise, total: u32) -> Vec<u32> {
    let mut rest = total;
    let mut out = Vec::new();
    for _ in 0..noise.below(3) {
        let bits = noise.below(rest as usize + 1) as u32;
        out.push(1 << bits);
        rest -= bits;
    }
    out.push(1 << rest);
    out
}

fn written(arch: &str, wanted: &Conversion<'_>) -> (String, ConversionSides) {
    let id = TABLES.arch_named(arch).expect("an architecture");
    let (mut text, mut storage) = (String::new(), Box::new(QueryStorage::new()));
    let sides = write_conversion(&TABLES, id, wanted, &mut storage, &mut text)
        .unwrap_or_else(|e| panic!("{arch}: {e:?}\n{} to {}", wanted.from, wanted.to));
    (text, sides)
}

/// Tables in which nothing costs but what goes through the lanes' crossbar, or nothing but
/// movements between lanes: other ways for the same conversions.
fn ways() -> [Tables<'static>; 3] {
    let (mut inside, mut through) = (TABLES, TABLES);
    inside.weights.instruction = 0;
    through.weights.instruction = 1 << 12;
    through.weights.shared_transaction = 0;
    [TABLES, inside, through]
}

/// Random pairs of distributions; how many were converted, how many of them through scratch, how
/// many refused, and why the first was.
fn hunt(arch: &str, wave: u32, seed: u32, rounds: usize) -> (usize, usize, Vec<String>) {
    let mut noise = Noise(seed);
    let (mut done, mut through, mut refused) = (0, 0, Vec::new());
    for round in 0..rounds {
        let (dtype, bits) = TYPES[noise.below(TYPES.len())];
        let warps = noise.below(3) as u32;
        let total = 4 + noise.below(9) as u32;
        let (from, to) = (
            deal(&mut noise, total, (wave, warps), bits),
            deal(&mut noise, total, (wave, warps), bits),
        );
        let extents = shape(&mut noise, total);
        let wanted = Conversion {
            from: &from.text(),
            to: &to.text(),
            threads: Some(1 << (wave + warps)),
            ..Conversion::of(&extents, dtype)
        };
        let (source, sides) = written(arch, &wanted);
        for tables in &ways()[..if round % 3 == 0 { 3 } else { 1 }] {
            match framed(tables, &source, arch) {
                Ok(framed) => {
                    done += 1;
                    through += usize::from(framed.scratch > 0);
                    if round % 8 == 0 {
                        assemble(&framed, arch)
                            .unwrap_or_else(|e| panic!("{arch}: {e}\n{source}\n{}", framed.text));
                    }
                    let found = wrong(&framed, arch, (&from, &to), &sides);
                    assert_eq!(found, Ok(0), "{arch} round {round}\n{source}\n{}", framed.text);
                }
                Err(why) => {
                    assert!(!why.starts_with("WRONG"), "{arch}: {why}\n{source}");
                    refused.push(format!("{why}\n{source}"));
                }
            }
        }
    }
    (done, through, refused)
}

fn hunts(archs: &[(&str, u32)], rounds: usize) {
    let rounds = std::env::var("LANEBOOK_HUNT").map_or(rounds, |n| n.parse().expect("a number"));
    for (seed, (arch, wave)) in (23..).zip(archs) {
        let (done, through, refused) = hunt(arch, *wave, seed, rounds);
        println!("{arch}: {done} converted, {through} through scratch, {} refused", refused.len());
        if let Some(first) = refused.first() {
            println!("{first}");
        }
        assert!(
            done > rounds && through > 0,
            "{arch}: {done} converted, {through} through scratch"
        );
        assert!(refused.len() * 10 <= done, "{arch}: {} refused\n{}", refused.len(), refused[0]);
    }
}

/// Random conversions with less room than the tile has: in rounds, right in the replay, and within
/// what `scratch` says; or refused with the least that does, which is then enough.
#[test]
fn conversions_in_rounds() {
    let archs = [("sm_80", 5), ("sm_90a", 5), ("gfx942", 6), ("gfx950", 6), ("gfx1200", 5)];
    for (seed, (arch, wave)) in (71..).zip(archs) {
        let mut noise = Noise(seed);
        let (mut in_rounds, mut refused) = (0, 0);
        for _ in 0..10 {
            let (dtype, bits) = TYPES[noise.below(TYPES.len())];
            let warps = noise.below(3) as u32;
            let total = wave + warps + 4 + noise.below(3) as u32;
            let (from, to) = (
                deal(&mut noise, total, (wave, warps), bits),
                deal(&mut noise, total, (wave, warps), bits),
            );
            let extents = shape(&mut noise, total);
            let (given, made) = (from.text(), to.text());
            let convert = |scratch: Option<u32>| {
                let wanted = Conversion {
                    from: &given,
                    to: &made,
                    threads: Some(1 << (wave + warps)),
                    scratch,
                    ..Conversion::of(&extents, dtype)
                };
                let (source, sides) = written(arch, &wanted);
                let framed = framed(&TABLES, &source, arch)?;
                let found = wrong(&framed, arch, (&from, &to), &sides);
                assert_eq!(found, Ok(0), "{arch}\n{source}\n{}", framed.text);
                assemble(&framed, arch)
                    .unwrap_or_else(|e| panic!("{arch}: {e}\n{source}\n{}", framed.text));
                Ok::<u32, String>(framed.scratch as u32)
            };
            let Ok(all @ 1..) = convert(None) else { continue };
            for budget in [all / 2, all / 4, all / 8] {
                match convert(Some(budget)) {
                    Ok(taken) => {
                        assert!(taken <= budget, "{arch}: {taken} of {budget}");
                        in_rounds += usize::from(taken > 0);
                    }
                    Err(why) => {
                        let least = why.split("need: ").nth(1).and_then(|w| w.split(',').next());
                        let least: u32 = least.and_then(|w| w.parse().ok()).unwrap_or_else(|| panic!("{arch}: {why} {budget} of {all}\n{given}\n{made} {extents:?} {dtype}"));
                        assert!(least > budget, "{why}");
                        assert_eq!(convert(Some(least)), Ok(least), "{arch}: {why}");
                        refused += 1;
                    }
                }
            }
        }
        println!("{arch}: {in_rounds} in rounds, {refused} refused");
        assert!(in_rounds >= 4, "{arch}: {in_rounds} in rounds, {refused} refused");
    }
}

#[test]
fn random_conversions_nvidia() {
    hunts(&[("sm_75", 5), ("sm_80", 5), ("sm_90a", 5), ("sm_120a", 5)], 24);
}

#[test]
fn random_conversions_amd() {
    hunts(
        &[
            ("gfx908", 6),
            ("gfx942", 6),
            ("gfx950", 6),
            ("gfx1100", 5),
            ("gfx1100.w64", 6),
            ("gfx1200", 5),
        ],
        16,
    );
}

/// Whatever a line of the text writes is said to be written, however many registers there are.
#[test]
fn all_that_is_written_is_said() {
    let blocked = |each, lanes, order| {
        format!(
            "#ttg.blocked<{{sizePerThread = {each}, threadsPerWarp = {lanes}, warpsPerCTA = [1, 1], order = {order}}}>"
        )
    };
    let (from, to) = (blocked("[1, 2]", "[4, 8]", "[1, 0]"), blocked("[2, 1]", "[8, 4]", "[0, 1]"));
    let mut most = 0;
    for (extents, dtype) in [([16, 16], "f16"), ([64, 64], "f16"), ([128, 64], "i8")] {
        let wanted = Conversion { from: &from, to: &to, ..Conversion::of(&extents, dtype) };
        let (source, _) = written("sm_90a", &wanted);
        let framed = framed(&TABLES, &source, "sm_90a").expect("a snippet");
        for line in framed.body.lines() {
            let Some((_, operands)) = line.trim().split_once(' ') else { continue };
            let results = match operands.strip_prefix('{') {
                Some(several) => several.split('}').next(),
                None => operands.split(',').next().filter(|one| !one.starts_with('[')),
            };
            let results = results.into_iter().flat_map(|all| all.split(','));
            for number in results.filter_map(|one| one.trim().strip_prefix("%r")?.parse().ok()) {
                let said = framed.written.iter().any(|(prefix, first, count)| {
                    prefix == "%r" && (*first..first + count).contains(&number)
                });
                assert!(said, "{extents:?}: %r{number} of `{line}` in {:?}", framed.written);
                most = most.max(number);
            }
        }
    }
    assert!(most > 500, "{most}");
}

/// Every line that is left out, every register and number that is another, shows.
#[test]
fn planted_faults() {
    let mut noise = Noise(41);
    for (arch, wave) in [("sm_80", 5), ("gfx942", 6), ("gfx1200", 5)] {
        let (mut planted, mut through, mut missed) = (0, 0, Vec::new());
        for round in 0..4 {
            let warps = round % 2;
            let (from, to) = (
                deal(&mut noise, wave + warps + 3, (wave, warps), 16),
                deal(&mut noise, wave + warps + 3, (wave, warps), 16),
            );
            let extents = [1 << (wave + warps + 3)];
            let wanted = Conversion {
                from: &from.text(),
                to: &to.text(),
                threads: Some(1 << (wave + warps)),
                ..Conversion::of(&extents, "f16")
            };
            let (source, sides) = written(arch, &wanted);
            let right = framed(&TABLES, &source, arch).expect("a snippet");
            through += usize::from(right.scratch > 0);
            assert_eq!(wrong(&right, arch, (&from, &to), &sides), Ok(0), "{arch}\n{}", right.text);
            let lines: Vec<&str> = right.body.lines().collect();
            for (at, line) in lines.iter().enumerate() {
                let mut faults = vec![String::new()];
                // Another number: the next one that the instruction may have.
                if let Some((head, tail)) = line.rsplit_once(", ")
                    && let Ok(n) = tail.trim_end_matches(';').parse::<u32>()
                    && ["shl.", "shr.", "prmt", "lop3"].iter().any(|w| line.contains(w))
                {
                    let end = if tail.ends_with(';') { ";" } else { "" };
                    faults.push(format!("{head}, {}{end}", n ^ 1));
                }
                // Without a line its register may hold what does by accident, so it gets a number.
                let made = line.trim().split([' ', ',']).nth(1).unwrap_or("");
                let is_register = made.trim_start_matches("%r").trim_start_matches('v');
                if made.len() > is_register.len() && is_register.parse::<u32>().is_ok() {
                    let one = [
                        format!("mov.b32 {made}, 1515870810;"),
                        format!("v_mov_b32 {made}, 1515870810"),
                    ];
                    faults[0] = one[usize::from(made.starts_with('v'))].clone();
                }
                for fault in faults {
                    // Wait states and waits that others make needless are a matter of time alone.
                    if ["s_nop", "s_wait", "s_delay"].iter().any(|w| line.trim().starts_with(w)) {
                        continue;
                    }
                    let body: String = lines
                        .iter()
                        .enumerate()
                        .map(|(k, l)| format!("{}\n", if k == at { fault.as_str() } else { l }))
                        .collect();
                    let text = right.text.replace(&right.body, &body);
                    assert_ne!(text, right.text);
                    let damaged = Framed { text, body, ..right.clone() };
                    planted += 1;
                    // One wave by itself needs no barrier.
                    if warps == 0 && line.contains("barrier") {
                        continue;
                    }
                    if wrong(&damaged, arch, (&from, &to), &sides) == Ok(0) {
                        missed.push(line.trim().to_string());
                    }
                }
            }
        }
        assert!(planted > 60 && through > 0, "{arch}: {planted} faults, {through} through scratch");
        // What does not show is code whose result nothing reads: choices of bytes for registers that
        // no lane is sent.
        assert!(
            missed.iter().all(|l| l.contains("prmt") || l.contains("v_perm")),
            "{arch}: {missed:?}"
        );
        assert!(missed.len() * 8 < planted, "{arch}: {} of {planted}: {missed:?}", missed.len());
    }
}

// ---- movements

#[test]
fn movements_to_and_from_global_memory() {
    let mut noise = Noise(3);
    let (mut done, mut refused) = (0, 0);
    for (arch, wave) in
        [("sm_80", 5), ("sm_90a", 5), ("gfx908", 6), ("gfx942", 6), ("gfx1100", 5), ("gfx1200", 5)]
    {
        for (dtype, bits) in TYPES.into_iter().filter(|(_, bits)| *bits >= 16) {
            let (warps, total, columns) = (1, wave + 4, 4 + noise.below(3) as u32);
            let dealt = loop {
                let dealt = deal(&mut noise, total, (wave, warps), bits);
                // A movement packs narrow elements as they lie.
                if !dealt.copies.iter().any(|h| matches!(h, Home::Bit(_))) {
                    break dealt;
                }
            };
            let extents = [1u32 << (total - columns), 1 << columns];
            let stride = extents[1] + 8;
            let elements = (extents[0] * stride) as usize;
            let bytes = bits as usize / 8;
            for kind in [MovementKind::Load, MovementKind::Store] {
                let wanted = TileMovement {
                    kind,
                    registers: &dealt.text(),
                    memory: MovedMemory::Global { stride, align: 16 },
                    other: None,
                    extents: &extents,
                    dtype,
                    threads: Some(1 << (wave + warps)),
                    split: WarpSplit::Halves,
                };
                let id = TABLES.arch_named(arch).expect("an architecture");
                let (mut source, mut storage) = (String::new(), Box::new(QueryStorage::new()));
                write_movement(&TABLES, id, &wanted, &mut storage, &mut source)
                    .unwrap_or_else(|e| panic!("{arch}: {e:?}"));
                let framed = match framed(&TABLES, &source, arch) {
                    Ok(framed) => framed,
                    // Elements side by side in a register that lie apart in memory.
                    Err(e) if bits < 32 && e.contains("NoCopyAtom") => {
                        refused += 1;
                        continue;
                    }
                    Err(e) => panic!("{arch}: {e}\n{source}"),
                };
                done += 1;
                assemble(&framed, arch).unwrap_or_else(|e| panic!("{arch}: {e}\n{}", framed.text));
                // Where an element of the tile is in memory.
                let place = |e: u32| (e >> columns) * stride + (e & (extents[1] - 1));
                let mut memory = vec![0xcdu8; elements * bytes];
                let whole: Vec<u8> = {
                    let mut out = memory.clone();
                    for e in 0..1u32 << total {
                        let at = place(e) as usize * bytes;
                        out[at..at + bytes]
                            .copy_from_slice(&label(e, bits, 0).to_le_bytes()[..bytes]);
                    }
                    out
                };
                let is_load = kind == MovementKind::Load;
                if is_load {
                    memory.clone_from(&whole);
                }
                let given = |thread: u32, register: u32| {
                    word(|at| dealt.element(thread, at), register, bits, 0).0
                };
                let left = replayed(&framed, arch, given, &memory)
                    .unwrap_or_else(|e| panic!("{arch}: {e}\n{source}\n{}", framed.text));
                if !is_load {
                    assert!(left.memory == whole, "{arch}\n{source}\n{}", framed.text);
                    continue;
                }
                for thread in 0..framed.threads {
                    for register in 0..framed.registers.1 {
                        let (value, mask) = word(|at| dealt.element(thread, at), register, bits, 0);
                        let found = left.word(thread, register);
                        assert_eq!((found ^ value) & mask, 0, "{arch}\n{source}\n{}", framed.text);
                    }
                }
            }
        }
    }
    assert!(done > 50 && refused < done / 2, "{done} movements, {refused} refused");
}

/// Between registers and shared memory, and from memory to memory: what assembles and runs.
#[test]
fn movements_to_and_from_shared_memory() {
    for (arch, wave) in [("sm_80", 5), ("sm_90a", 5), ("gfx942", 6), ("gfx950", 6), ("gfx1200", 5)]
    {
        let registers = if wave == 5 {
            "S[(32,2,16):(1@laneid,256@bit,16@bit)]"
        } else {
            "S[(32,2,16):(1@laneid,32@laneid,16@bit)]"
        };
        for kind in [MovementKind::Load, MovementKind::Store, MovementKind::Copy] {
            let is_copy = kind == MovementKind::Copy;
            let global = MovedMemory::Global { stride: 64, align: 16 };
            let wanted = TileMovement {
                kind,
                registers,
                memory: MovedMemory::Shared("S[(32,32):(40,1)]"),
                other: is_copy.then_some(global),
                extents: &[32, 32],
                dtype: "f16",
                threads: None,
                split: WarpSplit::Halves,
            };
            let id = TABLES.arch_named(arch).expect("an architecture");
            let (mut source, mut storage) = (String::new(), Box::new(QueryStorage::new()));
            let threads = write_movement(&TABLES, id, &wanted, &mut storage, &mut source)
                .unwrap_or_else(|e| panic!("{arch}: {e:?}"));
            assert_eq!(threads, 1 << wave);
            let framed =
                framed(&TABLES, &source, arch).unwrap_or_else(|e| panic!("{arch}: {e}\n{source}"));
            assert_eq!(framed.scratch, 32 * 40 * 2 - 16);
            assemble(&framed, arch).unwrap_or_else(|e| panic!("{arch}: {e}\n{}", framed.text));
            if kind != MovementKind::Load {
                replayed(&framed, arch, |thread, register| thread << 8 | register, &[7; 4096])
                    .unwrap_or_else(|e| panic!("{arch}: {e}\n{source}\n{}", framed.text));
            }
        }
    }
}

/// Notations: what each says of a tile, by its own definition.
#[test]
fn notations() {
    let blocked = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [2, 1], order = [1, 0]}>";
    // Threads and values to elements, column by column: T32V4 of 8 x 16, rows fastest.
    let cute = "((4,8),(2,2)):((16,1),(8,64))";
    let by_blocked = |thread: u32, at: u32| {
        let (lane, warp, i) = (thread % 32, thread / 32, at / 16);
        Some((8 * warp + lane / 4) * 16 + lane % 4 * 4 + i)
    };
    let by_cute = |thread: u32, at: u32| {
        let (lane, i) = (thread % 32, at / 32);
        let flat = lane % 4 * 16 + lane / 4 + i % 2 * 8 + i / 2 * 64;
        Some(flat % 8 * 16 + flat / 8)
    };
    for (arch, name, extents, dtype, bits, warps, element) in [
        (
            "sm_80",
            blocked,
            [16u32, 16],
            "f16",
            16,
            1u32,
            &by_blocked as &dyn Fn(u32, u32) -> Option<u32>,
        ),
        ("gfx1200", blocked, [16, 16], "f16", 16, 1, &by_blocked),
        ("sm_80", cute, [8, 16], "f32", 32, 0, &by_cute),
        ("gfx1100", cute, [8, 16], "f32", 32, 0, &by_cute),
    ] {
        let total = (extents[0] * extents[1]).ilog2();
        let mut noise = Noise(total + warps);
        let dealt = loop {
            let dealt = deal(&mut noise, total, (5, warps), bits);
            if dealt.copies.is_empty() {
                break dealt;
            }
        };
        let text = dealt.text();
        let wanted = Conversion { from: name, to: &text, ..Conversion::of(&extents, dtype) };
        let (source, sides) = written(arch, &wanted);
        assert_eq!(sides.threads, 32 << warps);
        let framed = framed(&TABLES, &source, arch).expect("a snippet");
        for digit in 0..digits(1 << total, bits) {
            let given = |thread: u32, register: u32| {
                let one =
                    |at: u32| if at.is_multiple_of(bits) { element(thread, at) } else { None };
                word(one, register, bits, digit).0
            };
            let left = replayed(&framed, arch, given, &[]).expect("a run");
            for thread in 0..framed.threads {
                for register in 0..framed.registers.1 {
                    let (value, mask) = word(|at| dealt.element(thread, at), register, bits, digit);
                    assert_eq!((left.word(thread, register) ^ value) & mask, 0, "{arch}: {name}");
                }
            }
        }
    }
}

/// Elements of 4 bits: every half of a byte arrives, on warps of 32 and waves of 64; what would take
/// bytes apart is refused.
#[test]
fn halves_of_bytes() {
    // Element (row, column) of lane and half of a byte, by the layouts' own definition.
    let rows = |lane: u32, half: u32| (lane, half);
    let spread = |lane: u32, half: u32| (lane % 8 + 8 * (half / 2), lane / 8 * 2 + half % 2);
    for (arch, lanes, from, to) in [
        (
            "sm_90a",
            32,
            "S[(32,8):(1@laneid,4@bit)]",
            "S[(4,8,4,2):(8@bit,1@laneid,8@laneid,4@bit)]",
        ),
        (
            "gfx950",
            64,
            "S[(64,16):(1@laneid,4@bit)]",
            "S[(8,8,8,2):(8@bit,1@laneid,8@laneid,4@bit)]",
        ),
    ] {
        let extents = [lanes, lanes / 4];
        for dtype in ["i4", "e2m1"] {
            let wanted = Conversion { from, to, ..Conversion::of(&extents, dtype) };
            let (source, sides) = written(arch, &wanted);
            assert_eq!((sides.threads, sides.from.element_bits), (lanes, 8));
            let framed = framed(&TABLES, &source, arch).expect("a snippet");
            for digit in 0..(lanes * lanes / 4).ilog2().div_ceil(4) {
                let filled = |of: &dyn Fn(u32, u32) -> (u32, u32), lane: u32, register: u32| {
                    (0..8).fold(0, |word, k| {
                        let (row, column) = of(lane, 8 * register + k);
                        word | ((row * (lanes / 4) + column) >> (4 * digit) & 15) << (4 * k)
                    })
                };
                let given = |lane: u32, register: u32| filled(&rows, lane, register);
                let left = replayed(&framed, arch, given, &[]).expect("a run");
                for lane in 0..lanes {
                    for register in 0..framed.registers.1 {
                        let want = filled(&spread, lane, register);
                        assert_eq!(left.word(lane, register), want, "{arch}: {source}");
                    }
                }
            }
        }
        let apart = "S[(8,4,8):(4@bit,1@laneid,4@laneid)]";
        let wanted = Conversion {
            from: "S[(32,8):(1@laneid,4@bit)]",
            to: apart,
            ..Conversion::of(&[32, 8], "i4")
        };
        let id = TABLES.arch_named("sm_90a").expect("an architecture");
        let mut storage = Box::new(QueryStorage::new());
        let error = write_conversion(&TABLES, id, &wanted, &mut storage, &mut String::new());
        assert_eq!(error, Err(ConvertError::Halves));
    }
}

/// What is no distribution is refused, and says why.
#[test]
fn refusals() {
    let id = TABLES.arch_named("gfx942").expect("an architecture");
    let good = "S[(16,4,4):(1@laneid,16@laneid,32@bit)]";
    for (from, extents, dtype, threads, said) in [
        ("(16,16):(16,1)", [16, 16], "f32", None, "says nothing of some lanes"),
        ("S[(16,16):(16,1)]", [16, 16], "f32", None, "it names no lanes"),
        ("S[(16,16):(1@laneid,32@bit)]", [16, 16], "f32", None, "says nothing of some lanes"),
        ("mma.m16n8k16.f32.f16.D", [16, 8], "f32", None, "says nothing of some lanes"),
        (good, [16, 32], "f32", None, "another number of elements"),
        ("S[(16,4,3):(1@laneid,16@laneid,32@bit)]", [16, 12], "f32", None, "no powers of two"),
        (good, [16, 16], "f33", None, "no type of elements"),
        (good, [16, 16], "e3m2", None, "no type of elements"),
        (good, [16, 16], "i4", None, "the same two in both layouts"),
        (good, [16, 16], "f32", Some(96), "96 threads; a power of two of at least 64"),
        (good, [16, 16], "f32", Some(32), "32 threads; a power of two of at least 64"),
        ("S[(16,16):(1@laneid,32@bit)] + R[4:8@laneid]", [16, 16], "f32", None, "the same place"),
        ("S[(16,4,4):(1@laneid,16@laneid,64@bit)]", [16, 16], "f16", None, "lie side by side"),
        ("S[(16,4,4):(1@laneid,16@laneid,32@bit)] + 5@laneid", [16, 16], "f32", None, "offset"),
        (
            "S[(2,8,4,4):(1@cbx,1@laneid,16@laneid,32@bit)]",
            [16, 16],
            "f32",
            None,
            "blocks of a cluster",
        ),
        (
            "S[(2,8,4,4):(1@block,1@laneid,16@laneid,32@bit)]",
            [16, 16],
            "f32",
            None,
            "several blocks",
        ),
        ("nothing.at.all", [16, 16], "f32", None, "nothing is called"),
        ("equal(1:1, 1:1)", [16, 16], "f32", None, "cannot be read"),
        (
            "S[(16,4,4):(1@laneid,16@laneid,32@bit)] on gfx9",
            [16, 16],
            "f32",
            None,
            "cannot be read",
        ),
    ] {
        let wanted = Conversion { from, to: good, threads, ..Conversion::of(&extents, dtype) };
        let mut storage = Box::new(QueryStorage::new());
        let error = write_conversion(&TABLES, id, &wanted, &mut storage, &mut String::new())
            .expect_err(from);
        let mut words = String::new();
        error.write_text((from, good), &mut words).expect("text");
        assert!(words.contains(said), "{from}: {words}");
    }
}
