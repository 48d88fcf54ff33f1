//! Tensor maps: what the caller has to fill them with, and what completes their copies.
use super::Report;
use lanebook::emit::ParamKind;
use lanebook::ir::Program;
use lanebook::plan::MapPlan;
use lanebook::unit::swizzle;
use std::fmt::Write;

/// A dimension's extent: a number, or the parameter that holds it.
fn extent(program: &Program<'_, '_>, map: &MapPlan, dim: u8) -> String {
    let name = program.value_name(map.memref);
    program
        .type_of(map.memref)
        .shape
        .extent(usize::from(dim))
        .map_or_else(|| format!("extent {dim} of %{name}"), |n| n.to_string())
}

fn code(codes: &[(&str, u16)], encoding: &str) -> String {
    codes
        .iter()
        .find(|(name, _)| *name == encoding)
        .map_or_else(|| "?".into(), |(_, code)| code.to_string())
}

impl Report<'_> {
    /// The maps in the order of the kernel's parameters.
    pub(super) fn maps(&self) -> String {
        let plan = &self.compiled.plan;
        if plan.maps.is_empty() {
            return String::new();
        }
        let mut out = String::from(
            "tensor maps, behind all other parameters; dimensions from the innermost\n",
        );
        for (number, map) in plan.maps.iter().enumerate() {
            let Some(rules) = self.tables.units.tensor_maps.get(usize::from(map.map)) else {
                continue;
            };
            let (Some(element), Some(mode)) = (
                rules.elements.get(usize::from(map.element)),
                self.tables.units.swizzles.get(usize::from(map.mode)),
            ) else {
                continue;
            };
            let param = self
                .compiled
                .params
                .iter()
                .position(|p| u8::try_from(number).is_ok_and(|n| p.kind == ParamKind::Map(n)));
            let name = self.program.value_name(map.memref);
            let order: Vec<String> =
                map.dims().iter().map(|dim| extent(self.program, map, *dim)).collect();
            let strides: Vec<String> = (1..map.dims().len())
                .map(|dim| {
                    let which = if dim == 1 && map.rank == 2 {
                        "the stride".to_string()
                    } else {
                        format!("stride {}", usize::from(map.rank) - 1 - dim)
                    };
                    map.stride(dim).map_or_else(
                        || format!("{} B times {which} of %{name}", element.bits / 8),
                        |bytes| format!("{bytes} B"),
                    )
                })
                .collect();
            let stride = strides.join(", ");
            let interleave = rules.interleaves.iter().find(|i| i.rows);
            let of = |codes: &[(&str, u16)]| code(codes, rules.encoding);
            let _ = writeln!(
                out,
                "  {number}: parameter {}, {} B aligned to {} B, of %{name}",
                param.unwrap_or(0),
                rules.block.0,
                rules.block.1
            );
            let _ = writeln!(
                out,
                "    element {} ({}), rank {}, extents {}, stride {stride}",
                element.name,
                of(element.codes),
                map.rank,
                order.join(" x ")
            );
            let swizzle =
                swizzle::code(mode, rules.encoding).map_or_else(|| "?".into(), |c| c.to_string());
            let steps = map.dims().iter().map(|_| "1").collect::<Vec<_>>().join(" x ");
            let boxed = map
                .boxed
                .iter()
                .take(usize::from(map.rank))
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(" x ");
            let lies =
                interleave.map_or("none (0)".into(), |i| format!("{} ({})", i.name, of(i.codes)));
            let _ = writeln!(
                out,
                "    box {boxed}, element strides {steps}, swizzle {} ({swizzle}), interleave {lies}",
                mode.name
            );
        }
        out.push_str(&self.mbarriers());
        out
    }

    /// The objects that copies and products complete on.
    fn mbarriers(&self) -> String {
        let (plan, mut out) = (&self.compiled.plan, String::new());
        for object in 0..plan.mbarriers {
            let size = self
                .tables
                .units
                .mbarriers
                .iter()
                .find(|c| self.arch.features.contains(&c.feature))
                .map_or(0, |c| u32::from(c.bytes));
            let at = plan.mbarrier_offset + size * u32::from(object);
            if plan.tensor_completion() == Some(object) {
                let products = plan.products.iter().filter(|p| p.tensor.is_some());
                let lines: Vec<String> = products.map(|p| self.line(p.op).to_string()).collect();
                let _ = writeln!(
                    out,
                    "  mbarrier {object} at byte {at} of shared memory: the products of line {}",
                    lines.join(" and ")
                );
                continue;
            }
            let moves: Vec<_> = plan
                .transfers
                .iter()
                .filter(|m| m.tiled.is_some_and(|t| t.completion == Some(object)))
                .collect();
            let lines: Vec<String> = moves.iter().map(|m| self.line(m.op).to_string()).collect();
            let bytes: u64 = moves
                .iter()
                .filter_map(|m| {
                    if let lanebook::plan::End::Shared(k) = m.to {
                        plan.allocs.get(usize::from(k))
                    } else {
                        None
                    }
                })
                .map(|a| a.shape.bytes())
                .sum();
            let _ = writeln!(
                out,
                "  mbarrier {object} at byte {at} of shared memory: the copies of line {}, {bytes} B a phase",
                lines.join(" and ")
            );
        }
        out
    }
}
