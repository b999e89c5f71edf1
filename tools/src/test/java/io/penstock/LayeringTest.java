// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.testing.Modules;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.FieldModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.constantpool.MemberRefEntry;
import java.lang.classfile.constantpool.MethodTypeEntry;
import java.lang.classfile.constantpool.NameAndTypeEntry;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.module.ModuleDescriptor;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Holds the compiled classes to the order of the packages, and to what the engine may use. */
class LayeringTest {

    /**
     * What each package may use, sub-packages included: a line a package, which uses packages of lines above it alone,
     * so that there is no cycle. An exclamation mark is for a use that is to go.
     */
    private static final Map<String, List<String>> USES = uses();

    /** Packages outside of java.base, and the layers, or packages in them, that may use them. */
    private static final Map<String, Set<String>> EDGES = Map.ofEntries(
            Map.entry("com.sun.management", Set.of("diagnose", "os")),
            Map.entry("java.lang.instrument", Set.of("diagnose.agent")),
            Map.entry("java.lang.management", Set.of("diagnose", "os")),
            Map.entry("javax.management", Set.of("diagnose")),
            Map.entry("com.sun.net.httpserver", Set.of("diagnose.metrics", "diagnose.watch")),
            Map.entry("io.micrometer", Set.of("diagnose.metrics")),
            Map.entry("java.net.http", Set.of("remote")),
            Map.entry("javax.crypto", Set.of("remote")),
            Map.entry("javax.net.ssl", Set.of("remote")),
            Map.entry("javax.xml.stream", Set.of("remote")),
            Map.entry("jdk.jfr", Set.of("telemetry", "diagnose", "cli")),
            Map.entry("com.knuddels.jtokkit", Set.of("tokenize")),
            Map.entry("com.github.luben.zstd", Set.of("codec")),
            Map.entry("java.awt", Set.of("image")),
            Map.entry("javax.imageio", Set.of("image")),
            Map.entry("picocli", Set.of("cli")));

    private static final String BINDINGS = "io.penstock.cuda.bindings";

    /** Members that nobody uses, as owner and name; an empty name stands for all of the owner. */
    private static final List<String> FORBIDDEN = List.of(
            "sun.misc.Unsafe#", "jdk.internal.misc.Unsafe#", "java.lang.ref.Cleaner#",
            "java.lang.ref.Cleaner$Cleanable#",
            "java.lang.foreign.Linker$Option#critical", BINDINGS + ".CudaRuntime#cudaLaunchHostFunc",
            "java.lang.Runtime#halt", "java.lang.Runtime#exit", "java.lang.System#exit",
            // What is read may be a FIFO: io.penstock.io.local.RegularFile opens it.
            "java.nio.file.Files#newInputStream", "java.nio.file.Files#readAllBytes",
            "java.nio.file.Files#readString", "java.nio.file.Files#readAllLines", "java.nio.file.Files#lines",
            "java.nio.file.Files#newBufferedReader", "java.io.FileInputStream#<init>", "java.io.FileReader#<init>",
            // It takes what follows a member for an end: io.penstock.codec.decoder.Gzip does not.
            "java.util.zip.GZIPInputStream#");

    /** The classes that may use one of these nevertheless. */
    private static final Map<String, Set<String>> ALLOWED = Map.of(
            "java.lang.System#exit", Set.of("io.penstock.cli.Penstock"),
            // The program of a process of its own, which ends with the one that started it.
            "java.lang.Runtime#halt", Set.of("io.penstock.media.IsolatedChild"),
            // The one reads what is no FIFO, the other standard input.
            "java.io.FileInputStream#<init>", Set.of("io.penstock.io.local.RegularFile",
                    "io.penstock.cli.SourceOptions"),
            "java.nio.file.Files#readString", Set.of("io.penstock.diagnose.machine.HostReader",
                    "io.penstock.io.PageCache", "io.penstock.os.MemoryNode", "io.penstock.os.ThreadStart"));

    private static final Pattern OBJECT_TYPE = Pattern.compile("L([^;<]+);");

    @Test
    void classesKeepToTheirLayers() throws IOException {
        List<String> violations = new ArrayList<>();
        Set<String> seen = new TreeSet<>();
        for (Path folder : Modules.classes()) {
            for (ClassModel model : classes(folder)) {
                seen.add(layer(name(model)));
                violations.addAll(violations(model));
            }
        }
        assertEquals("", String.join("\n", violations));
        assertEquals(new TreeSet<>(USES.keySet()), seen);
    }

    /**
     * A module uses what another one gives it, by a name that both know: what a wing reaches is exported to it, and the
     * engine reaches no wing.
     */
    @Test
    void modulesReachEachOtherByWhatTheyExport() throws IOException {
        Map<String, ModuleDescriptor> modules = new LinkedHashMap<>();
        Map<String, String> homes = new LinkedHashMap<>();
        for (Path folder : Modules.classes()) {
            ModuleDescriptor module = Modules.descriptor(folder);
            modules.put(module.name(), module);
            for (ClassModel model : classes(folder)) {
                String name = name(model);
                String before = homes.put(name.substring(0, name.lastIndexOf('.')), module.name());
                assertTrue(before == null || before.equals(module.name()), name + " is in a package of two modules");
            }
        }
        Set<String> violations = new TreeSet<>();
        for (Path folder : Modules.classes()) {
            ModuleDescriptor user = Modules.descriptor(folder);
            for (ClassModel model : classes(folder)) {
                for (String used : typesUsed(model)) {
                    String of = used.substring(0, Math.max(0, used.lastIndexOf('.')));
                    String home = homes.getOrDefault(of, user.name());
                    if (!home.equals(user.name()) && modules.get(home).exports().stream().noneMatch(export ->
                            export.source().equals(of)
                                    && (!export.isQualified() || export.targets().contains(user.name())))) {
                        violations.add(name(model) + " uses " + used + ", which " + home + " does not export");
                    }
                    if (!home.equals(user.name()) && user.requires().stream().noneMatch(one ->
                            one.name().equals(home))) {
                        violations.add(name(model) + " uses " + used + ", but its module does not require " + home);
                    }
                }
            }
        }
        assertEquals("", String.join("\n", violations));
    }

    @Test
    void aPackageUsesThoseAboveIt() {
        List<String> wrong = new ArrayList<>();
        List<String> above = new ArrayList<>();
        USES.forEach((user, used) -> {
            used.stream().filter(name -> !name.startsWith("!") && !above.contains(name))
                    .forEach(name -> wrong.add(user + " uses " + name + ", which is not above it"));
            above.add(user);
        });
        assertEquals(List.of(), wrong);
    }

    private static Map<String, List<String>> uses() {
        Map<String, List<String>> uses = new LinkedHashMap<>();
        try (InputStream text = LayeringTest.class.getResourceAsStream("layers.txt")) {
            for (String line : new String(text.readAllBytes(), StandardCharsets.UTF_8).lines().toList()) {
                String[] parts = line.split(":", 2);
                uses.put(parts[0], Stream.of(parts[1].split(" +")).filter(name -> !name.isEmpty()).toList());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return uses;
    }

    @Test
    void aClassThatBreaksTheRulesIsNamed() {
        byte[] bytes = ClassFile.of().build(ClassDesc.of("io.penstock.internal.Bad"), type -> type
                .withField("store", ClassDesc.of("io.penstock.store.TokenStore"), 0)
                .withField("library", ClassDesc.of("picocli.CommandLine"), 0)
                .withField("pointer", ClassDesc.of("io.penstock.cuda.bindings.CudaRuntime"), 0)
                .withField("fine", ClassDesc.of("io.penstock.os.ThreadUsage"), 0)
                .withMethodBody("finalize", ConstantDescs.MTD_void, 0, code -> code
                        .iconst_0()
                        .invokestatic(ClassDesc.of("java.lang.System"), "exit",
                                MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_int))
                        .return_()));
        assertEquals(List.of(
                "io.penstock.internal.Bad uses io.penstock.cuda.bindings.CudaRuntime",
                "io.penstock.internal.Bad uses io.penstock.store.TokenStore",
                "io.penstock.internal.Bad uses picocli.CommandLine",
                "io.penstock.internal.Bad uses java.lang.System#exit",
                "io.penstock.internal.Bad has a finalizer"), violations(ClassFile.of().parse(bytes)));
    }

    @Test
    void generatedBindingsAreAsTheyWereGenerated() throws Exception {
        Path folder = Path.of("bindings/java");
        Map<String, String> listed = new TreeMap<>();
        for (String line : Files.readAllLines(Path.of("bindings/java.sha256"))) {
            listed.put(line.substring(66), line.substring(0, 64));
        }
        Map<String, String> found = new TreeMap<>();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file));
                found.put(folder.relativize(file).toString().replace('\\', '/'), HexFormat.of().formatHex(digest));
            }
        }
        assertTrue(listed.size() > 10, "only " + listed.size() + " files listed");
        assertEquals(listed, found);
    }

    private static List<ClassModel> classes(Path root) throws IOException {
        List<ClassModel> models = new ArrayList<>();
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : files.filter(path -> path.toString().endsWith(".class")).sorted().toList()) {
                ClassModel model = ClassFile.of().parse(file);
                if (!name(model).startsWith(BINDINGS) && !name(model).equals("module-info")) {
                    models.add(model);
                }
            }
        }
        return models;
    }

    private static List<String> violations(ClassModel model) {
        String name = name(model);
        List<String> violations = new ArrayList<>();
        for (String used : typesUsed(model)) {
            if (!mayUse(name, used)) {
                violations.add(name + " uses " + used);
            }
        }
        for (PoolEntry entry : model.constantPool()) {
            if (entry instanceof MemberRefEntry member) {
                String owner = member.owner().asInternalName().replace('/', '.');
                String use = owner + "#" + member.name().stringValue();
                if ((FORBIDDEN.contains(use) || FORBIDDEN.contains(owner + "#"))
                        && !ALLOWED.getOrDefault(use, Set.of()).contains(name)) {
                    violations.add(name + " uses " + use);
                }
            }
        }
        for (MethodModel method : model.methods()) {
            if (method.methodName().equalsString("finalize") && method.methodType().equalsString("()V")) {
                violations.add(name + " has a finalizer");
            }
        }
        return violations;
    }

    private static boolean mayUse(String user, String used) {
        if (used.startsWith(BINDINGS)) {
            return user.startsWith("io.penstock.device.cuda.");
        }
        String layer = layer(user);
        if (used.startsWith("io.penstock.")) {
            return layer.equals(layer(used)) || USES.getOrDefault(layer, List.of()).contains(layer(used))
                    || USES.getOrDefault(layer, List.of()).contains("!" + layer(used));
        }
        for (Map.Entry<String, Set<String>> edge : EDGES.entrySet()) {
            if (used.startsWith(edge.getKey() + ".")) {
                return edge.getValue().stream().anyMatch(allowed -> user.startsWith("io.penstock." + allowed + "."));
            }
        }
        return used.startsWith("java.") && ModuleLayer.boot().findModule("java.base").orElseThrow().getPackages()
                .contains(used.substring(0, used.lastIndexOf('.')));
    }

    private static Set<String> typesUsed(ClassModel model) {
        Set<String> types = new TreeSet<>();
        for (PoolEntry entry : model.constantPool()) {
            switch (entry) {
                case ClassEntry type when type.asInternalName().startsWith("[") -> add(types, type.asInternalName());
                case ClassEntry type -> types.add(type.asInternalName().replace('/', '.'));
                case NameAndTypeEntry nameAndType -> add(types, nameAndType.type().stringValue());
                case MethodTypeEntry type -> add(types, type.descriptor().stringValue());
                default -> { }
            }
        }
        for (FieldModel field : model.fields()) {
            add(types, field.fieldType().stringValue());
        }
        for (MethodModel method : model.methods()) {
            add(types, method.methodType().stringValue());
        }
        return types;
    }

    private static void add(Set<String> types, String descriptor) {
        Matcher matcher = OBJECT_TYPE.matcher(descriptor);
        while (matcher.find()) {
            types.add(matcher.group(1).replace('/', '.'));
        }
    }

    private static String name(ClassModel model) {
        return model.thisClass().asInternalName().replace('/', '.');
    }

    /** The package below io.penstock, for example {@code format.npy} of {@code io.penstock.format.npy.NpyStore}. */
    private static String layer(String className) {
        String name = className.substring(0, className.lastIndexOf('.'));
        return name.equals("io.penstock") ? "" : name.substring("io.penstock.".length());
    }
}
