use super::*;
use std::collections::HashSet;

fn counter(machine: &str) -> &'static Counter {
    by_machine(machine).unwrap_or_else(|| panic!("{machine}"))
}
fn value(machine: &str, c: &Counts) -> Value {
    counter(machine).value(c, &Model::default())
}

#[test]
fn every_counter_is_told_apart_and_explained() {
    Catalogue::read().unwrap();
    let distinct = |f: &dyn Fn(&Counter) -> String| all().iter().map(f).collect::<HashSet<_>>().len();
    assert_eq!(distinct(&|c| c.machine.into()), all().len());
    assert_eq!(distinct(&|c| c.human.into()), all().len());
    assert_eq!(distinct(&|c| format!("{:?}", c.uuid())), all().len());
    for c in all() {
        assert!(
            c.description.len() > 10 && c.human.len() < 256 && c.description.len() < 256,
            "{}",
            c.machine
        );
        assert_eq!(by_id(c.id).unwrap().machine, c.machine);
    }
}

/// A model without the unit has all other counters.
#[test]
fn counters_of_rays_need_the_unit() {
    let with = of(&Model::load(Some("g720")).unwrap());
    assert_eq!(with.len(), reported().len());
    assert_eq!(with.iter().filter(|c| c.id < OWN).count(), 279);
    for name in ["g57", "g610", "g710", "g77", "g78"] {
        let without = of(&Model::load(Some(name)).unwrap());
        let rays: Vec<_> = with.iter().map(|c| c.machine).filter(|m| m.starts_with("MaliRTU")).collect();
        assert_eq!((without.len() + 19, rays.len()), (with.len(), 19), "{name}");
        assert!(!without.iter().any(|c| rays.contains(&c.machine)), "{name}");
    }
}

/// The lists of the database: 185 hardware counters and 113 derived ones, of the former these are core.
#[test]
fn the_lists_are_whole() {
    let core: &[(Block, &[std::ops::RangeInclusive<u32>])] = &[
        (Block::GpuFrontend, &[4..=6, 12..=13, 16..=18, 22..=22, 24..=26, 30..=30, 32..=34, 38..=38]),
        (
            Block::Tiler,
            &[4..=4, 6..=14, 17..=17, 21..=21, 23..=24, 26..=26, 34..=35, 37..=38, 64..=64, 70..=71],
        ),
        (Block::MemorySystem, &[16..=16, 18..=18, 25..=27, 29..=29, 32..=33, 37..=42, 47..=48]),
        (
            Block::ShaderCore,
            &[4..=7, 9..=22, 24..=24, 26..=29, 31..=34, 36..=39, 42..=42, 44..=63, 68..=69, 87..=96],
        ),
    ];
    for (block, ranges) in core {
        for index in ranges.iter().cloned().flatten() {
            assert!(
                all().iter().any(|c| c.block == *block && c.index == Some(index)),
                "{block:?} {index} is missing"
            );
        }
    }
    assert_eq!(all().iter().filter(|c| c.is_hardware()).count(), 185);
    assert_eq!(all().iter().filter(|c| c.block == Block::Derived).count(), 113);
}

#[test]
fn names_and_ids_of_the_database() {
    let c = counter("MaliFragWarp");
    assert_eq!((c.id, c.human, c.block, c.index), (214, "Fragment warps", Block::ShaderCore, Some(9)));
    assert_eq!(c.source, "FRAG_WARPS");
    assert_eq!(by_id(6).unwrap().human, "GPU active cycles");
    assert_eq!(by_id(556).unwrap().machine, "MaliALUIssueCy");
    assert_eq!(counter("TuffFmaInstr").id, OWN + 1);
    // The reference, where it is at hand (beside the checkout), word for word.
    const FILE: &str = "shared/reference/mali_g720_counters.tsv";
    let beside = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let Ok(text) = std::fs::read_to_string(beside.join(FILE)) else {
        return not_run::say("counters::names_and_ids_of_the_database, word for word", &format!("../{FILE}"));
    };
    for row in text.lines().skip(1) {
        let [machine, human, id, ..] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let c = counter(machine);
        assert_eq!((c.human, c.id.to_string()), (human, id.to_string()));
    }
}

/// From the values of all counters, those that follow from others come out as they are.
#[test]
fn counters_follow_from_others() {
    let mut c = Counts::default();
    c.0.iter_mut().enumerate().for_each(|(i, v)| *v = 1000 + 7 * i as u64);
    let m = Model::default();
    let number = |c: Value| match c {
        Value::Uint64(v) => v as f64,
        Value::Float64(v) => v,
    };
    let values: Vec<f64> = all().iter().map(|k| number(k.value(&c, &m))).collect();
    let (mut follow, mut derived) = (0, 0);
    for k in reported() {
        let Some(f) = k.from_others() else {
            assert_ne!(k.block, Block::Derived, "{}", k.machine);
            continue;
        };
        let v = k.cut(f.value(&Counts::default(), &m, &|i| values[i]));
        assert_eq!(v, values[place(k.machine).unwrap()], "{}", k.machine);
        follow += 1;
        derived += (k.block == Block::Derived) as usize;
    }
    assert!(derived < follow && follow < reported().len(), "{derived} {follow}");
    assert!(counter("TuffTexInstr").from_others().is_none());
}

#[test]
fn every_event_reaches_a_counter() {
    let mut seen = HashSet::new();
    for c in reported() {
        c.parsed.as_ref().unwrap().visit(&mut |f| {
            match f {
                Formula::Event(e) => seen.insert(e.name()),
                Formula::Unit(_, u) | Formula::Total(u) => seen.insert(u.name()),
                _ => true,
            };
        });
    }
    // What is seen through a derived counter (queued less blocked), and what only the cost model reads.
    let inner = ["ComputeActiveCycles", "MainActiveCycles", "TexDescriptorLoads"];
    // What queries of pipeline statistics, of vertex streams and of mesh primitives tell, and no counter of Mali's.
    let queries: HashSet<_> = Event::ALL[Event::ControlPatches as usize..Event::SamplesPassed as usize]
        .iter()
        .map(|e| e.name())
        .collect();
    assert_eq!(queries.len(), 19);
    let inner = |n: &str| inner.contains(&n) || queries.contains(n);
    let names = Event::ALL.iter().map(|e| e.name()).chain(Unit::ALL.iter().map(|u| u.name()));
    let unseen: Vec<_> = names.filter(|n| !seen.contains(n) && !inner(n)).collect();
    assert!(unseen.is_empty(), "{unseen:?}");
}

#[test]
fn storage_follows_the_formula() {
    for (machine, storage) in [
        ("MaliEngFMAInstr", Storage::Uint64),
        ("MaliTexFiltIssueCy", Storage::Uint64),
        ("MaliMainQueueActiveCy", Storage::Uint64),
        ("MaliGeomTotalPrim", Storage::Uint64),
        ("MaliMainQueueUtil", Storage::Float64),
        ("MaliFragOverdraw", Storage::Float64),
        ("TuffGpuTime", Storage::Uint64),
    ] {
        assert_eq!(counter(machine).storage, storage, "{machine}");
    }
    assert_eq!(counter("MaliMainQueueUtil").measure(), Measure::Percentage);
    assert_eq!(counter("MaliGPUActiveCy").measure(), Measure::Cycles);
    assert_eq!(counter("TuffGpuTime").measure(), Measure::Nanoseconds);
}

/// By hand: 1003 FMA, 402 CVT and 22 SFU warp-instructions are 250, 100 and 5 times 64 lanes.
#[test]
fn arithmetic_by_the_published_equations() {
    let mut c = Counts::default();
    c[(Phase::Main, Unit::Fma)] = 1000;
    c[(Phase::Binning, Unit::Fma)] = 3;
    c[(Phase::Main, Unit::Cvt)] = 402;
    c[(Phase::Compute, Unit::Sfu)] = 22;
    c[Event::CoreExecCycles] = 500;
    use Value::{Float64, Uint64};
    assert_eq!(value("TuffFmaInstr", &c), Uint64(1003));
    assert_eq!(value("MaliEngFMAInstr", &c), Uint64(250));
    assert_eq!(value("MaliEngCVTInstr", &c), Uint64(100));
    assert_eq!(value("MaliEngSFUInstr", &c), Uint64(5));
    assert_eq!(value("MaliEngArithInstr", &c), Uint64(355));
    // 105 of CVT and SFU; (250 − 105) / 2 more FMA: 177.5.
    assert_eq!(value("MaliALUIssueCy", &c), Float64(177.5));
    assert_eq!(value("MaliALUUtil", &c), Float64(35.5));
    assert_eq!(value("MaliEngFMAPipeUtil", &c), Float64(25.0));
    assert_eq!(value("MaliEngSFUPipeUtil", &c), Float64(4.0));
}

#[test]
fn geometry_and_fragments_by_the_published_equations() {
    use Event::*;
    let mut c = Counts::default();
    for (e, v) in [
        (PrimsVisible, 40),
        (PrimsFaceCulled, 30),
        (PrimsFrustumCulled, 20),
        (PrimsScissorCulled, 5),
        (PrimsSampleCulled, 5),
        (QuadsRasterised, 4096),
        (QuadsEzsKilled, 1024),
        (QuadsOccluding, 2048),
        (MainTasks, 2),
        (Tiles, 8),
        (TilesKilled, 2),
        (MainQueuedCycles, 900),
        (MainBlockedCycles, 100),
        (GpuActiveCycles, 1600),
    ] {
        c[e] = v;
    }
    c[(Phase::Main, Unit::Warps)] = 640;
    c[(Phase::Main, Unit::Threads)] = 8192;
    use Value::{Float64, Uint64};
    assert_eq!(value("MaliGeomTotalPrim", &c), Uint64(100));
    assert_eq!(value("MaliGeomVisibleRate", &c), Float64(40.0));
    assert_eq!(value("MaliGeomPlaneCullRate", &c), Float64(20.0));
    // Of the 75 that frustum and scissor left.
    assert_eq!(value("MaliGeomFaceCullRate", &c), Float64(40.0));
    assert_eq!(value("MaliFragShadedQd", &c), Float64(2560.0));
    assert_eq!(value("MaliFragFPKKillQd", &c), Float64(512.0));
    assert_eq!(value("MaliFragEZSKillRate", &c), Float64(25.0));
    assert_eq!(value("MaliFragTransparentQd", &c), Uint64(1024));
    assert_eq!(value("MaliGPUPix", &c), Uint64(8192));
    assert_eq!(value("MaliFragOverdraw", &c), Float64(1.0));
    assert_eq!(value("MaliFragTileKill", &c), Uint64(8));
    assert_eq!(value("MaliFragTileKillRate", &c), Float64(25.0));
    assert_eq!(value("MaliMainQueueActiveCy", &c), Uint64(800));
    assert_eq!(value("MaliMainQueueUtil", &c), Float64(50.0));
    // 1600 cycles at 1300 MHz: 1230.77 ns.
    assert_eq!(value("TuffGpuTime", &c), Uint64(1230));
    assert_eq!(value("MaliTexUtil", &c), Float64(0.0));
}

#[test]
fn memory_in_beats_of_the_model() {
    let mut c = Counts::default();
    c[(Phase::Main, Unit::ExtReads)] = 10;
    c[(Phase::Main, Unit::L2ReadLookups)] = 40;
    c[(Phase::Main, Unit::LsL2ReadBeats)] = 160;
    c[(Phase::Main, Unit::LsReadFull)] = 32;
    let wide = Model::default();
    let narrow = Model::load(Some("small")).unwrap();
    assert_eq!((wide.memory.bus_bytes, narrow.memory.bus_bytes), (32, 16));
    let beats = counter("MaliExtBusRdBt");
    assert_eq!(beats.value(&c, &wide), Value::Uint64(20));
    assert_eq!(beats.value(&c, &narrow), Value::Uint64(40));
    for m in [&wide, &narrow] {
        assert_eq!(counter("MaliExtBusRdBy").value(&c, m), Value::Uint64(640));
        assert_eq!(counter("TuffExtReadBytes").value(&c, m), Value::Uint64(640));
    }
    assert_eq!(value("MaliL2CacheRdMissRate", &c), Value::Float64(25.0));
    assert_eq!(value("MaliSCBusLSL2RdByPerRd", &c), Value::Float64(80.0));
}

#[test]
fn tasks_have_what_they_count() {
    let names: Vec<_> = by_task().iter().map(|c| c.machine).collect();
    for yes in ["MaliFragWarp", "MaliFragThread", "MaliMainActiveCy", "MaliFragRastQd", "TuffMainFmaInstr"] {
        assert!(names.contains(&yes), "{yes}");
    }
    for no in
        ["MaliGPUActiveCy", "MaliNonFragWarp", "TuffBinningFmaInstr", "MaliALUUtil", "MaliGeomTotalPrim"]
    {
        assert!(!names.contains(&no), "{no}");
    }
    assert!(names.len() >= 40, "{}", names.len());
    // Beats of shader cores that missed the L2, by the database's names.
    let missed = |c: &&Counter| c.human.contains("external");
    assert!(reported().iter().any(|c| missed(c) && c.block == Block::ShaderCore));
    assert_eq!(by_task().iter().copied().filter(missed).map(|c| c.human).collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn what_others_can_change_is_told() {
    for (machine, shared) in [
        ("MaliFragWarp", false),
        ("TuffFmaInstr", false),
        ("MaliL2CacheLookup", false),
        ("MaliGPUActiveCy", true),
        ("MaliCoreActiveCy", true),
        ("MaliExtBusRdBt", true),
        ("TuffExtReadBytes", true),
        // Through other counters.
        ("MaliMainQueueUtil", true),
        ("MaliALUUtil", true),
        ("MaliFragOverdraw", false),
    ] {
        assert_eq!(counter(machine).is_shared(), shared, "{machine}");
    }
}
