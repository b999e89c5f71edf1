// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.LibraryException;
import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.store.Inspection.Depth;
import io.penstock.testing.FormatJar;
import java.io.IOException;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.example.format.BrokenProvider;
import org.example.format.LastProvider;
import org.example.format.TokProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How formats are found, in which order they are asked, and what becomes of providers that do not work. */
class StoreProviderTest {

    private static final List<String> OWN = List.of("megatron", "manifest", "llmc", "npy", "npz", "safetensors",
            "datatrove", "nanogpt", "raw");
    /** What errors say of the formats of wings, which the engine is tested without. */
    private static final String ABSENT = "; penstock-formats, which has [hdf5, arrow, parquet, lmdb, mds, csv, jsonl,"
            + " webdataset, files], is not on the class path; penstock-pictures, which has [images], is not on the"
            + " class path";

    @TempDir
    Path folder;
    private ClassLoader before;

    @BeforeEach
    void remember() {
        before = Thread.currentThread().getContextClassLoader();
    }

    @AfterEach
    void restore() {
        Thread.currentThread().setContextClassLoader(before);
    }

    private void useJar(Class<?>... providers) throws IOException {
        Path jar = FormatJar.write(folder.resolve("formats.jar"), providers);
        Thread.currentThread().setContextClassLoader(FormatJar.loader(jar));
    }

    private Path file(String name, String latin1) throws IOException {
        return Files.write(folder.resolve(name), latin1.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static List<String> names() {
        return StoreFormats.all().stream().map(StoreProvider::name).toList();
    }

    @Test
    void penstocksOwnFormatsAreAskedInThisOrder() {
        assertEquals(OWN, names());
    }

    @Test
    void theModuleAndTheClassPathProvideTheSame() throws IOException {
        List<String> listed;
        try (InputStream in = StoreProvider.class.getResourceAsStream(
                "/META-INF/services/" + StoreProvider.class.getName())) {
            listed = new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
        }
        try (InputStream in = Files.newInputStream(Path.of("target/classes/module-info.class"))) {
            ModuleDescriptor module = ModuleDescriptor.read(in);
            assertEquals(List.of(listed), module.provides().stream()
                    .filter(provides -> provides.service().equals(StoreProvider.class.getName()))
                    .map(ModuleDescriptor.Provides::providers).toList());
        }
        assertEquals(StoreFormats.all().stream().map(provider -> provider.getClass().getName()).toList(), listed);
    }

    @Test
    void aFormatOfAnotherJarIsOpenedByItsContentItsNameAndWhenTold() throws IOException {
        useJar(TokProvider.class);
        for (Path path : List.of(file("a.any", "TOK1\1\0\2\0"), file("b.tok", "\1\0\2\0"))) {
            StoreProvider found = StoreFormats.recognize(Location.of(path));
            assertEquals("tok", found.name());
            assertNotSame(TokProvider.class, found.getClass(), "it is the jar's");
            for (OpenOptions options : List.of(OpenOptions.DEFAULT, OpenOptions.DEFAULT.withFormat("tok"))) {
                try (TokenStore store = TokenStore.open(path, options)) {
                    assertEquals(2, store.tokenCount());
                }
            }
            Inspection inspection = Inspection.of(path, Depth.CONTENT);
            assertEquals("tok", inspection.kind());
            assertEquals(2L, inspection.arrays().getFirst().max());
        }
        Path half = file("c.tok", "\1\0\2");
        assertEquals(half + ": at byte 2: half a token, expected two bytes a token",
                assertThrows(MalformedStoreException.class, () -> Store.open(half)).getMessage());
    }

    @Test
    void theGuideShowsTheFormatThatIsTestedHere() throws IOException {
        String source = Files.readString(Path.of("src/test/java/org/example/format/TokProvider.java"));
        String shown = source.substring(source.indexOf("package "));                // without the license line
        assertTrue(Files.readString(Path.of("docs/formats/your-own.md")).contains("```java\n" + shown + "```\n"));
    }

    @Test
    void aProviderIsAskedBeforePenstocksOwnUnlessItIsAFallback() throws IOException {
        Path tokens = file("x.bin", "TOK1\1\0\2\0");
        assertEquals("nanogpt", StoreFormats.recognize(Location.of(tokens)).name());
        useJar(TokProvider.class);
        assertEquals("tok", names().getFirst());
        assertEquals(OWN, names().subList(1, OWN.size() + 1));
        assertEquals("tok", StoreFormats.recognize(Location.of(tokens)).name());
        useJar(LastProvider.class);
        assertEquals("tok", names().getLast());
        assertEquals("nanogpt", StoreFormats.recognize(Location.of(tokens)).name());
        assertEquals("tok", StoreFormats.recognize(Location.of(file("x.other", "TOK1\1\0\2\0"))).name());
    }

    @Test
    void contentComesBeforeTheNameWhateverTheOrder() throws IOException {
        useJar(TokProvider.class);
        assertEquals("npy", StoreFormats.recognize(Location.of(file("x.tok", "\u0093NUMPY\1\0"))).name());
    }

    @Test
    void anUnknownNameIsRefusedWithAllThatAreKnown() throws IOException {
        useJar(TokProvider.class);
        Path tokens = file("x.bin", "\1\0");
        String known = "[tok, " + String.join(", ", OWN) + "]";
        assertEquals("unknown format 'nyp', expected one of " + known + ABSENT,
                assertThrows(IllegalArgumentException.class,
                        () -> Store.open(tokens, OpenOptions.DEFAULT.withFormat("nyp"))).getMessage());
        Path text = file("x.txt", "text");
        assertEquals(text + ": no format detected, expected one of " + known + " (or name its format)" + ABSENT,
                assertThrows(MalformedStoreException.class, () -> Store.open(text)).getMessage());
    }

    @Test
    void twoProvidersOfOneNameAreRefusedByTheirNames() throws IOException {
        useJar(TokProvider.class, LastProvider.class);
        assertEquals("two providers of the format 'tok': org.example.format.TokProvider and"
                + " org.example.format.LastProvider, expected one",
                assertThrows(LibraryException.class, StoreFormats::all).getMessage());
    }

    @Test
    void aProviderThatIsNotThereIsNamed() throws IOException {
        Path jar = FormatJar.write(folder.resolve("formats.jar"), "org.example.format.Missing");
        Thread.currentThread().setContextClassLoader(FormatJar.loader(jar));
        String message = assertThrows(LibraryException.class, StoreFormats::all).getMessage();
        assertTrue(message.contains("org.example.format.Missing"), message);
    }

    @Test
    void aProviderThatFailsWhenItIsAskedIsNamed() throws IOException {
        useJar(BrokenProvider.class, TokProvider.class);
        Path bad = file("x.tok", "BAD!");
        LibraryException failure = assertThrows(LibraryException.class, () -> Store.open(bad));
        assertEquals(bad + ": the provider of the format 'broken' (org.example.format.BrokenProvider) failed to say"
                + " whether it is one: java.lang.ArithmeticException: no such thing", failure.getMessage());
        assertInstanceOf(ArithmeticException.class, failure.getCause());
        Store.open(file("y.tok", "GOOD")).close();
        Store.open(bad, OpenOptions.DEFAULT.withFormat("tok")).close();
    }

    @Test
    void aProviderThatOpensTokensAndDoesNotSaySoIsNamed() throws IOException {
        useJar(LastProvider.class);
        Path tokens = file("x.other", "\1\0\2\0");
        String message = assertThrows(LibraryException.class, () -> Store.open(tokens)).getMessage();
        assertTrue(message.startsWith(tokens + ": the provider of the format 'tok' (org.example.format.LastProvider)"
                + " opens "), message);
    }

    @Test
    void aContextClassLoaderThatIsMissingOrSeesNoOrAnotherPenstockIsPassedOver() throws IOException {
        Thread.currentThread().setContextClassLoader(null);
        assertEquals(OWN, names());
        Thread.currentThread().setContextClassLoader(ClassLoader.getPlatformClassLoader());
        assertEquals(OWN, names());
        URL[] engine = {Path.of("target/classes").toUri().toURL()};
        try (URLClassLoader other = new URLClassLoader(engine, ClassLoader.getPlatformClassLoader())) {
            Thread.currentThread().setContextClassLoader(other);
            assertEquals(OWN, names());
        }
    }

    @Test
    void aProviderThatBothClassLoadersFindIsOne() {
        Thread.currentThread().setContextClassLoader(new ClassLoader(before) { });
        assertEquals(OWN, names());
        assertSame(before, Thread.currentThread().getContextClassLoader().getParent());
    }

    @Test
    void aMemberOfAFormatWithoutMembersIsRefusedByName(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("tokens.bin");
        Files.write(file, new byte[64]);
        for (StoreProvider format : StoreFormats.all()) {
            OpenOptions options = OpenOptions.DEFAULT.withFormat(format.name()).withMember("train");
            var refused = assertThrows(IllegalArgumentException.class, () -> Store.open(Location.of(file), options),
                    format.name());
            assertTrue(refused.getMessage().contains("found member 'train', but the format '" + format.name()
                    + "' has no members"), refused.getMessage());
        }
    }

    @Test
    void aFormatOfAModuleThatIsAbsentIsNamedWithTheModule() throws IOException {
        var unknown = assertThrows(IllegalArgumentException.class, () -> StoreFormats.named("parquet"));
        assertEquals("unknown format 'parquet', expected one of " + OWN + ABSENT, unknown.getMessage());
        Path table = file("table.parquet", "PAR1");
        var undetected = assertThrows(MalformedStoreException.class, () -> StoreFormats.recognize(Location.of(table)));
        assertTrue(undetected.getMessage().endsWith(ABSENT), undetected.getMessage());
    }
}
