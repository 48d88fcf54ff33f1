//! A recorded layout or fragment, and its comparison with lanebook's.

use super::expr::{coords, eval};
use lanebook_layout::tilelang::Fragment;
use lanebook_layout::{AxisId, Coord, Hw, LayoutRef, Linear, Logical};
use serde_json::Value;

/// A recorded map.
pub struct Model {
    /// The shape, first dimension first.
    pub shape: Vec<i64>,
    /// An expression an output.
    pub index: Vec<Value>,
    /// The thread, of a fragment.
    pub thread: Option<Value>,
    /// How many copies.
    pub replicate: i64,
    /// The greatest thread plus 1.
    pub thread_extent: Option<i64>,
}

/// A list of integers.
pub fn numbers(v: &Value) -> Result<Vec<i64>, String> {
    let list = v.as_array().ok_or_else(|| format!("numbers {v}"))?;
    let read = |n: &Value| n.as_i64().ok_or_else(|| format!("number {n}"));
    list.iter().map(read).collect()
}

/// A list of extents.
pub fn extents(v: &Value) -> Result<Vec<u32>, String> {
    let list = numbers(v)?.into_iter().map(u32::try_from);
    list.collect::<Result<_, _>>().map_err(|e| format!("{v}: {e}"))
}

impl Model {
    /// The `layout` of a record.
    pub fn read(v: &Value) -> Result<Self, String> {
        let index = v["index_expr"].as_array().ok_or("index_expr")?;
        Ok(Self {
            shape: numbers(&v["shape"])?,
            index: index.clone(),
            thread: v.get("thread_expr").filter(|t| !t.is_null()).cloned(),
            replicate: v.get("replicate").and_then(Value::as_i64).unwrap_or(1),
            thread_extent: v.get("thread_extent").and_then(Value::as_i64),
        })
    }

    /// The outputs at a coordinate.
    pub fn outputs(&self, coord: &[i64]) -> Result<Vec<i64>, String> {
        self.index.iter().map(|e| eval(e, coord, 0)).collect()
    }

    /// The threads of all copies at a coordinate, in order.
    pub fn threads(&self, coord: &[i64]) -> Result<Vec<i64>, String> {
        let thread = self.thread.as_ref().ok_or("no thread")?;
        let all = (0..self.replicate).map(|rep| eval(thread, coord, rep));
        let mut all = all.collect::<Result<Vec<_>, _>>()?;
        all.sort_unstable();
        Ok(all)
    }

    /// Whether lanebook's layout is this map.
    pub fn is_layout(&self, l: &LayoutRef<'_>) -> Result<(), String> {
        let count = self.index.len();
        self.each(|flat, wanted| {
            let mut at = Coord::new();
            let found = l.apply_flat(flat, &mut at);
            found.map_err(|e| format!("{e:?}"))?;
            let found: Vec<i64> = (0..count).map(|k| at.get(axis(k, count))).collect();
            Ok((found == wanted).then_some(()).ok_or(found))
        })?;
        let size = l.size_value().map_err(|e| format!("{e:?}"))?;
        if i64::try_from(size) != Ok(self.shape.iter().product()) {
            return Err(format!("size {size}"));
        }
        Ok(())
    }

    /// Whether lanebook's linear map is this map.
    pub fn is_linear(&self, l: &Linear<Logical, Hw>) -> Result<(), String> {
        let count = self.index.len();
        self.each(|flat, wanted| {
            let value = l.apply_packed(flat);
            let on = |k| l.outs().extract(value, axis(k, count)).unwrap_or(0);
            let found: Vec<i64> = (0..count).map(|k| on(k) as i64).collect();
            Ok((found == wanted).then_some(()).ok_or(found))
        })
    }

    fn each(
        &self,
        mut same: impl FnMut(u64, Vec<i64>) -> Result<Result<(), Vec<i64>>, String>,
    ) -> Result<(), String> {
        for (flat, coord) in (0u64..).zip(coords(&self.shape)) {
            let wanted = self.outputs(&coord)?;
            let text = format!("{wanted:?}");
            if let Err(found) = same(flat, wanted)? {
                return Err(format!("at {coord:?}: {found:?} instead of {text}"));
            }
        }
        Ok(())
    }

    /// Whether lanebook's fragment is this one: threads of the copies in any order, local index,
    /// extents.
    pub fn is_fragment(&self, f: &Fragment) -> Result<(), String> {
        let show = |e: lanebook_layout::Error| format!("{e:?}");
        let copies = f.copies().map_err(show)?;
        if i64::try_from(copies) != Ok(self.replicate) {
            return Err(format!("{copies} copies instead of {}", self.replicate));
        }
        let threads = f.thread_extent().map_err(show)?;
        if self.thread_extent.is_some_and(|t| t != threads) {
            return Err(format!("{threads} threads instead of {:?}", self.thread_extent));
        }
        for (flat, coord) in (0u64..).zip(coords(&self.shape)) {
            let owners = (0..copies).map(|c| f.forward_thread(flat, c));
            let mut owners = owners.collect::<Result<Vec<_>, _>>().map_err(show)?;
            owners.sort_unstable();
            let wanted = self.threads(&coord)?;
            if owners != wanted {
                return Err(format!("threads at {coord:?}: {owners:?} instead of {wanted:?}"));
            }
        }
        let shape: Vec<i64> = f.shape().map_err(show)?.iter().map(|e| i64::from(*e)).collect();
        if shape != self.shape {
            return Err(format!("shape {shape:?} instead of {:?}", self.shape));
        }
        self.is_layout(&f.layout())
    }
}

/// The axis of output `k` of `count`.
pub fn axis(k: usize, count: usize) -> AxisId {
    if k + 1 == count { AxisId::M } else { AxisId::dim(k as u8) }
}
