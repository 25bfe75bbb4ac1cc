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
