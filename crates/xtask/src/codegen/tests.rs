//! The generator on a small registry.

use super::names;
use super::registry::{Registry, TypeKind};

const XML: &str = r#"<registry>
<comment>Copyright. SPDX-License-Identifier: Apache-2.0 OR MIT</comment>
<types>
  <type category="define">// Not "0" &amp; more
#define <name>VK_HEADER_VERSION</name> 7</type>
  <type category="define">#define <name>VK_OTHER</name> 8</type>
  <type category="struct" name="VkFoo" structextends="VkBar,VkBaz">
    <member values="VK_STRUCTURE_TYPE_FOO"><type>VkStructureType</type> <name>sType</name></member>
    <member>const <type>void</type>* <name>pNext</name></member>
    <member len="n">const <type>char</type>* const* <name>ppNames</name></member>
    <member><type>uint8_t</type> <name>id</name>[<enum>VK_UUID_SIZE</enum>]</member>
    <member api="vulkansc"><type>uint32_t</type> <name>other</name></member>
  </type>
  <type category="struct" name="VkFooKHR" alias="VkFoo"/>
</types>
<enums name="API Constants" type="constants"><enum type="uint32_t" value="16" name="VK_UUID_SIZE"/></enums>
<enums name="VkStructureType" type="enum"><enum value="3" name="VK_STRUCTURE_TYPE_THREE"/></enums>
<commands>
  <command><proto><type>VkResult</type> <name>vkDo</name></proto>
    <param><type>VkDevice</type> <name>device</name></param></command>
  <command name="vkDoKHR" alias="vkDo"/>
</commands>
<feature api="vulkan" name="VK_VERSION_1_4" number="1.4">
  <require><command name="vkDo"/><enum extends="VkStructureType" extnumber="101" offset="2" name="VK_STRUCTURE_TYPE_FOO"/></require>
</feature>
<extensions>
  <extension name="VK_KHR_do" number="101" type="device" supported="vulkan" promotedto="VK_VERSION_1_4">
    <require><enum value="7" name="VK_KHR_DO_SPEC_VERSION"/><command name="vkDoKHR"/></require>
    <require depends="VK_KHR_x"><command name="vkDoMoreKHR"/></require>
  </extension>
  <extension name="VK_KHR_gone" number="102" type="device" supported="disabled"/>
</extensions>
</registry>"#;

#[test]
fn reads_types_commands_and_extensions() {
    let r = Registry::parse(XML).expect("it parses");
    let TypeKind::Struct { members, extends } = &r.types["VkFoo"].kind else { panic!("VkFoo is a struct") };
    assert_eq!(extends, &["VkBar", "VkBaz"]);
    assert_eq!(members.len(), 4);
    assert_eq!((members[2].pointers, members[2].is_const, members[2].len.as_deref()), (2, true, Some("n")));
    assert_eq!(r.length(&members[3].arrays[0]), Some(16));
    assert_eq!(r.canonical_type("VkFooKHR"), "VkFoo");
    assert_eq!(r.canonical_command("vkDoKHR").map(|c| c.name.as_str()), Some("vkDo"));
    assert_eq!(r.cores[0].version, 104);
    let stype = r.values("VkStructureType", r.cores.iter());
    assert_eq!(stype.iter().map(|v| v.value).collect::<Vec<_>>(), [3, 1_000_100_002]);
    assert!(!r.extensions.contains_key("VK_KHR_gone"));
    let e = &r.extensions["VK_KHR_do"];
    assert_eq!((e.spec_version, e.commands.len(), e.depends.len()), (7, 2, 1));
}

#[test]
fn what_is_checked_in_says_the_same_in_fewer_words() {
    let text = super::extract::extract(XML).expect("the same registry");
    assert!(text.contains("Copyright.") && text.contains("VK_HEADER_VERSION 7"));
    for absent in ["VK_KHR_gone", "VK_OTHER", "vulkansc", ">other<"] {
        assert!(!text.contains(absent), "{absent} in {text}");
    }
    assert!(super::extract::extract("<registry/>").is_err());
}

#[test]
fn spells_names_as_ash_does() {
    assert_eq!(names::command("vkCmdCopyBuffer2"), "cmd_copy_buffer2");
    assert_eq!(names::command("vkGetMemoryFdKHR"), "get_memory_fd_khr");
    assert_eq!(names::field("ppEnabledExtensionNames"), "pp_enabled_extension_names");
    assert_eq!(names::field("type"), "ty");
    assert_eq!(names::value("VkAccessFlagBits3KHR", "VK_ACCESS_3_NONE_KHR"), "NONE");
    assert_eq!(names::value("VkSampleCountFlagBits", "VK_SAMPLE_COUNT_4_BIT"), "TYPE_4");
    assert_eq!(names::value("VkLayeredApiKHR", "VK_LAYERED_API_METAL_KHR"), "METAL");
}

#[test]
fn depends_expressions() {
    let have = ["VK_A".to_string(), "VK_B".to_string()];
    let is = |d| super::entrypoints::satisfied(d, &have);
    assert!(is("") && is("VK_A") && is("VK_X,VK_A") && is("VK_VERSION_1_4"));
    assert!(!is("VK_X") && !is("VK_A+VK_X") && !is("VK_VERSION_1_5"));
    assert!(is("(VK_X,VK_A)+VK_B") && !is("(VK_X+VK_A),(VK_B+VK_Y)"));
}

/// One row for each rule by which a parameter of C becomes a safe type; the declarations are in vk.xml.
#[test]
fn parameters_arrive_as_safe_types() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join(super::extract::FILE)).expect("the registry");
    let registry = Registry::parse(&text).expect("it parses");
    let ash = super::ash::Ash::read().expect("ash's source");
    let names = names::Names::new(&registry, &ash);
    let rows = [
        ("vkCreateFence", "this, In::new(&*p_create_info), Out::new(p_fence)"),
        ("vkDestroyFence", "this, Doomed::new(fence)"),
        ("vkDestroyDevice", "Doomed::new(device)"),
        ("vkResetFences", "this, array(p_fences, fence_count as usize)"),
        ("vkQueueSubmit2", "this, In::array(p_submits, submit_count as usize), fence"),
        ("vkEnumeratePhysicalDevices", "this, List::new(&mut *p_physical_device_count, p_physical_devices)"),
        ("vkGetPipelineCacheData", "this, pipeline_cache, List::new(&mut *p_data_size, p_data.cast::<u8>())"),
        ("vkGetPhysicalDeviceFeatures2", "this, Fill::new(&mut *p_features)"),
        (
            "vkAllocateDescriptorSets",
            "this, In::new(&*p_allocate_info), OutSlice::new(p_descriptor_sets, (*p_allocate_info).descriptor_set_count as usize)",
        ),
        ("vkCmdSetBlendConstants", "this, &*blend_constants"),
        ("vkCmdUpdateBuffer", "this, dst_buffer, dst_offset, array(p_data.cast::<u8>(), data_size as usize)"),
        ("vkMapMemory2", "this, In::new(&*p_memory_map_info), Out::new(pp_data)"),
        (
            "vkEnumerateInstanceExtensionProperties",
            "chain::string(p_layer_name), List::new(&mut *p_property_count, p_properties)",
        ),
        (
            "vkCmdDrawMultiIndexedEXT",
            "this, Strided::new(p_index_info, draw_count as usize, stride as usize), instance_count, first_instance, p_vertex_offset.as_ref()",
        ),
        // One count of two arrays, data without a length, and a display: as in C.
        (
            "vkEnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR",
            "this, queue_family_index, &mut *p_counter_count, p_counters, p_counter_descriptions",
        ),
        ("vkUpdateDescriptorSetWithTemplate", "this, descriptor_set, descriptor_update_template, p_data"),
        ("vkGetPhysicalDeviceWaylandPresentationSupportKHR", "this, queue_family_index, display"),
    ];
    let modules = rows.iter().map(|r| (r.0.to_string(), "room::file".to_string())).collect();
    let tables = super::Tables { modules, extensions: vec![] };
    for (command, args) in rows {
        let text = super::calls::adapter(&names, &tables, &registry.commands[command]);
        let call = format!("crate::room::file::{}({args})", names::command(command));
        assert!(text.contains(&call), "{command}: no\n{call}\nin\n{text}");
    }
}

/// What vk.xml promises only under conditions is not read by a safe method.
#[test]
fn members_without_a_promise_have_unsafe_methods() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join(super::extract::FILE)).expect("the registry");
    let registry = Registry::parse(&text).expect("it parses");
    let ash = super::ash::Ash::read().expect("ash's source");
    let tables = super::Tables { modules: Default::default(), extensions: vec![] };
    let readers = super::calls::readers(&names::Names::new(&registry, &ash), &tables, "");
    let has = |of: &str, method: &str| {
        let (_, rest) = readers.split_once(&format!("vk::{of}<'a>> {{")).unwrap_or_else(|| panic!("no {of}"));
        rest.split("\n}\n").next().is_some_and(|methods| methods.contains(method))
    };
    for (of, method) in [
        ("CommandBufferBeginInfo", "pub unsafe fn inheritance_info(self)"),
        ("WriteDescriptorSet", "pub unsafe fn image_info(self)"),
        ("GraphicsPipelineCreateInfo", "pub unsafe fn tessellation_state(self)"),
        ("SubmitInfo2", "pub fn wait_semaphore_infos(self) -> In<'a, [vk::SemaphoreSubmitInfo<'a>]>"),
        ("ComputePipelineCreateInfo", "pub fn stage(self) -> In<'a, vk::PipelineShaderStageCreateInfo<'a>>"),
        ("DeviceCreateInfo", "pub fn enabled_extension_names(self) -> In<'a, [*const c_char]>"),
        (
            "PipelineCreationFeedbackCreateInfo",
            "pub fn pipeline_creation_feedback(self) -> Option<Out<'a, vk::PipelineCreationFeedback>>",
        ),
    ] {
        assert!(has(of, method), "{of}: {method}");
    }
}
