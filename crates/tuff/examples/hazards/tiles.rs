//! What render passes do to tiles: contents that were discarded, feedback loops, and traffic that nothing needs.

use crate::Situation;
use crate::world::*;
use ash::vk;
use client::graphics::ImageInfo;
use vk::{AttachmentLoadOp as Load, AttachmentStoreOp as Store, ImageLayout as L};

const TARGET: L = L::COLOR_ATTACHMENT_OPTIMAL;

pub const ALL: &[Situation] = &[
    ("sampled_after_dont_care", |w, fault| {
        let (image, target) = (w.target()?, w.target()?);
        w.prepare(&[(&image, L::GENERAL), (&target, TARGET)])?;
        let (plain, sampled) = (w.graphics(false, "plain", None)?, w.graphics(false, "sampled", None)?);
        let set = w.set(Bound { sampled: Some((&image, L::GENERAL)), ..Bound::default() })?;
        let store = if fault { Store::DONT_CARE } else { Store::STORE };
        w.run(|r| {
            r.render((&image, L::GENERAL, Load::CLEAR, store), None, || r.draw(plain, set));
            r.barrier(EVERYTHING, EVERYTHING);
            r.render((&target, TARGET, Load::CLEAR, Store::STORE), None, || r.draw(sampled, set));
        })
    }),
    ("copied_after_dont_care", |w, fault| {
        let image = w.target()?;
        w.prepare(&[(&image, L::GENERAL)])?;
        let store = if fault { Store::DONT_CARE } else { Store::STORE };
        w.run(|r| {
            r.render((&image, L::GENERAL, Load::CLEAR, store), None, || ());
            r.barrier(EVERYTHING, EVERYTHING);
            r.read_rows(&image, L::GENERAL, 0, SIZE, (0, 0));
        })
    }),
    ("loaded_after_dont_care", |w, fault| {
        let image = w.target()?;
        w.prepare(&[(&image, TARGET)])?;
        let store = if fault { Store::DONT_CARE } else { Store::STORE };
        w.run(|r| {
            r.render((&image, TARGET, Load::CLEAR, store), None, || ());
            r.barrier(EVERYTHING, EVERYTHING);
            r.render((&image, TARGET, Load::LOAD, Store::STORE), None, || ());
        })
    }),
    ("loaded_after_undefined", |w, fault| {
        let image = w.target()?;
        w.prepare(&[(&image, TARGET)])?;
        w.run(|r| {
            r.change(&image, [if fault { L::UNDEFINED } else { TARGET }, TARGET], EVERYTHING, EVERYTHING);
            r.render((&image, TARGET, Load::LOAD, Store::STORE), None, || ());
        })
    }),
    ("loaded_before_anything", |w, fault| {
        let image = w.target()?;
        w.run(|r| {
            r.change(&image, [L::UNDEFINED, TARGET], NONE, COLOR);
            let load = if fault { Load::LOAD } else { Load::CLEAR };
            r.render((&image, TARGET, load, Store::STORE), None, || ());
        })
    }),
    ("its_own_target_sampled", |w, fault| {
        let (image, other) = (w.target()?, w.target()?);
        w.prepare(&[(&image, L::GENERAL), (&other, L::GENERAL)])?;
        let sampled = w.graphics(false, "sampled", None)?;
        let source = if fault { &image } else { &other };
        let set = w.set(Bound { sampled: Some((source, L::GENERAL)), ..Bound::default() })?;
        w.run(|r| r.render((&image, L::GENERAL, Load::CLEAR, Store::STORE), None, || r.draw(sampled, set)))
    }),
    ("depth_stored_for_nothing", |w, fault| {
        let (target, depth) = (w.target()?, w.depth()?);
        let layout = L::DEPTH_ATTACHMENT_OPTIMAL;
        w.prepare(&[(&target, TARGET), (&depth, layout)])?;
        let store = if fault { Store::STORE } else { Store::DONT_CARE };
        w.run(|r| {
            let depth = (&*depth, layout, Load::CLEAR, store);
            let color = |load| (&*target, TARGET, load, Store::STORE);
            r.render(color(Load::CLEAR), Some(depth), || ());
            r.barrier(EVERYTHING, EVERYTHING);
            r.render(color(Load::LOAD), Some(depth), || ());
        })
    }),
    ("cleared_twice", |w, fault| {
        let image = w.target()?;
        w.prepare(&[(&image, TARGET)])?;
        let (plain, set) = (w.graphics(false, "plain", None)?, w.set(Bound::default())?);
        w.run(|r| {
            r.render((&image, TARGET, Load::CLEAR, Store::STORE), None, || {
                let clear =
                    [vk::ClearAttachment { aspect_mask: vk::ImageAspectFlags::COLOR, ..Default::default() }];
                let side = if fault { SIZE } else { SIZE / 2 };
                let rect =
                    vk::Rect2D { extent: vk::Extent2D { width: SIZE, height: side }, ..Default::default() };
                let rects = [vk::ClearRect { rect, base_array_layer: 0, layer_count: 1 }];
                // SAFETY: recording, with live handles.
                unsafe { w.device.cmd_clear_attachments(r.buffer, &clear, &rects) }
                r.draw(plain, set);
            });
        })
    }),
    ("transient_target_stored", |w, fault| {
        let info = ImageInfo::colour(vk::Format::R8G8B8A8_UNORM, [SIZE; 2]).transient();
        let image = w.image(info)?;
        let store = if fault { Store::STORE } else { Store::DONT_CARE };
        w.run(|r| {
            r.change(&image, [L::UNDEFINED, TARGET], NONE, COLOR);
            r.render((&image, TARGET, Load::CLEAR, store), None, || ());
        })
    }),
];
