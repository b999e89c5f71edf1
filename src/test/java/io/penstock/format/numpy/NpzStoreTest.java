// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.numpy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.json.Json;
import io.penstock.memory.DType;
import io.penstock.store.Inspection;
import io.penstock.store.Inspection.Depth;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.TensorStore;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What is odd about the archives in {@code src/test/resources/npz} is in their names: Python's zipfile wrote them with
 * numpy's members, to a pipe (with descriptors behind the members), with its zip64 limits set low, with names of all
 * kinds. {@code expected.json} has what {@code numpy.load} reads in them.
 */
class NpzStoreTest {

    @TempDir
    private Path folder;

    private static Path written(String name) throws URISyntaxException {
        return Path.of(NpzStoreTest.class.getResource("/npz/" + name).toURI());
    }

    @ParameterizedTest
    @ValueSource(strings = {"streamed_deflated", "streamed_stored", "zip64", "zip64_stored", "names", "cp437", "empty"})
    void whatNumpyReadsInAnArchiveIsReadTheSame(String name) throws Exception {
        Object all = Json.parse(Files.readAllBytes(written("expected.json")));
        List<Object> expected = Json.array(Json.object(all).get(name + ".npz"));
        List<Object> found = Json.array(Json.object(Json.parse(Json.write(
                Inspection.of(written(name + ".npz"), Depth.CONTENT).toMap()))).get("arrays"));
        assertEquals(expected.size(), found.size());
        for (int i = 0; i < expected.size(); i++) {
            Map<String, Object> array = Json.object(found.get(i));
            Json.object(expected.get(i)).forEach((field, value) -> assertEquals(value, array.get(field)));
        }
    }

    @Test
    void aStoredRowMajorLittleEndianMemberIsAViewOfTheFileAndAnyOtherIsACopyThatSaysSo() throws Exception {
        Path path = written("streamed_stored.npz");
        try (TensorStore store = TensorStore.open(path)) {
            assertEquals(List.of("x: u16[7,5]", "be: i32[3,4]", "F: f32[4,3]", "zeros: i64[3000]"),
                    store.tensors().stream().map(Object::toString).toList());
            boolean[] isCopy = {false, true, true, false};
            Span span = new Span();
            for (int i = 0; i < isCopy.length; i++) {
                store.locate(i, 1, 1, span);
                assertEquals(isCopy[i], store.isConverted(i));
                assertEquals(!isCopy[i], span.file().location().equals(Location.of(path)));
            }
            store.locate(1, 1, 2, span);
            assertEquals(4, span.segment().get(ValueLayout.JAVA_INT_UNALIGNED, span.byteOffset()));
            assertThrows(IndexOutOfBoundsException.class, () -> store.locate(1, 2, 2, span));
            assertThrows(IndexOutOfBoundsException.class, () -> store.locate(0, 7, 1, span));
        }
    }

    /** A little array of bytes, as a {@code .npy}. */
    private static byte[] npy(String descr, int... elements) {
        String header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + elements.length + ",)}\n";
        ByteBuffer bytes = ByteBuffer.allocate(10 + header.length() + elements.length).order(ByteOrder.LITTLE_ENDIAN)
                .put("\u0093NUMPY\1\0".getBytes(StandardCharsets.ISO_8859_1)).putShort((short) header.length())
                .put(header.getBytes(StandardCharsets.ISO_8859_1));
        for (int element : elements) {
            bytes.put((byte) element);
        }
        return bytes.array();
    }

    private static byte[] zip(int method, Map<String, byte[]> members) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(out)) {
            for (Map.Entry<String, byte[]> each : members.entrySet()) {
                ZipEntry entry = new ZipEntry(each.getKey());
                CRC32 crc = new CRC32();
                crc.update(each.getValue());
                entry.setMethod(method);
                entry.setSize(each.getValue().length);
                entry.setCrc(crc.getValue());
                zip.putNextEntry(entry);
                zip.write(each.getValue());
            }
        }
        return out.toByteArray();
    }

    private Path file(byte[] bytes) throws IOException {
        return Files.write(folder.resolve("x.npz"), bytes);
    }

    /** An archive of one stored member {@code a.npy}, with some bytes changed. */
    private Path patched(Consumer<Patch> patch) throws IOException {
        byte[] bytes = zip(ZipEntry.STORED, Map.of("a.npy", npy("|u1", 1, 2, 3)));
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        patch.accept(new Patch(buffer, buffer.getInt(bytes.length - 6), bytes.length - 22));
        return file(bytes);
    }

    private record Patch(ByteBuffer bytes, int entry, int end) {
    }

    private static String refusal(Path path) {
        String message = assertThrows(MalformedStoreException.class, () -> Store.open(path)).getMessage();
        assertTrue(message.startsWith(path + ": ") && message.contains(", expected "), message);
        return message;
    }

    @Test
    void aDirectoryThatIsNotThatOfItsMembersIsRefused() throws IOException {
        record Case(Consumer<Patch> patch, String reason) {
        }
        for (Case each : List.of(
                new Case(p -> p.bytes.putShort(p.entry + 8, (short) 1), "encrypted"),
                new Case(p -> p.bytes.putShort(p.entry + 10, (short) 12), "method 12"),
                new Case(p -> p.bytes.putInt(p.entry + 16, 7), "CRC-32"),
                new Case(p -> p.bytes.putInt(p.entry + 20, 1), "bytes of content"),
                new Case(p -> p.bytes.putInt(p.entry + 20, 1 << 20), "up to the directory"),
                new Case(p -> p.bytes.putInt(p.entry + 24, 1 << 20), "as it is stored"),
                new Case(p -> p.bytes.putInt(p.entry + 24, -1), "as it is stored"),
                new Case(p -> p.bytes.putInt(p.entry + 42, 1), "its header there"),
                new Case(p -> p.bytes.putInt(p.entry + 42, Integer.MAX_VALUE), "its header there"),
                new Case(p -> p.bytes.putInt(p.entry + 42, -2), "its header there"),
                new Case(p -> p.bytes.put(p.entry + 46, (byte) 'b'), "its header there"),
                new Case(p -> p.bytes.putShort(p.entry + 28, (short) 999), "where the directory ends"),
                new Case(p -> p.bytes.putShort(28, (short) -1), "up to the directory"),
                new Case(p -> p.bytes.putInt(p.entry, 0), "PK 1 2"),
                new Case(p -> p.bytes.put(2, (byte) 9), "its header there"),
                new Case(p -> p.bytes.putShort(p.end + 4, (short) 1), "several files"),
                new Case(p -> p.bytes.putInt(p.end + 8, 0x2_0002), "as its end says"),
                new Case(p -> p.bytes.putInt(p.end + 12, 0), "one that ends at"),
                new Case(p -> p.bytes.putInt(p.end + 16, -1), "one that ends at"),
                new Case(p -> p.bytes.putShort(p.end + 20, (short) 9), "no end of a zip directory"))) {
            Path path = patched(each.patch);
            String message = refusal(path);
            assertTrue(message.contains(each.reason), message + " / " + each.reason);
        }
    }

    @Test
    void anEndOfADirectoryInACommentIsNotTheEnd() throws IOException {
        byte[] bytes = zip(ZipEntry.STORED, Map.of("a.npy", npy("|u1", 1, 2, 3)));
        byte[] comment = "PK\5\6 and twenty-two bytes and more".getBytes(StandardCharsets.ISO_8859_1);
        ByteBuffer longer = ByteBuffer.allocate(bytes.length + comment.length).order(ByteOrder.LITTLE_ENDIAN)
                .put(bytes).put(comment).putShort(bytes.length - 2, (short) comment.length);
        try (TensorStore store = TensorStore.open(file(longer.array()))) {
            assertEquals(3, store.tensor(0).getLong(2));
        }
    }

    @Test
    void membersThatShareBytesOrANameAreRefused() throws IOException {
        Map<String, byte[]> two = new LinkedHashMap<>();
        two.put("a.npy", npy("|u1", 1));
        two.put("b.npy", npy("|u1", 2));
        byte[] bytes = zip(ZipEntry.STORED, two);
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int first = buffer.getInt(bytes.length - 6);
        int second = first + 46 + buffer.getShort(first + 28) + buffer.getShort(first + 30);
        buffer.put(second + 46, (byte) 'a').putInt(second + 42, 0).putInt(second + 16, buffer.getInt(first + 16));
        assertTrue(refusal(file(bytes)).contains("again"));

        two.clear();
        two.put("a", npy("|u1", 1));
        two.put("a.npy", npy("|u1", 2));
        assertTrue(refusal(file(zip(ZipEntry.STORED, two))).contains("two members for the array 'a'"));

        two.clear();
        two.put("a.npy", npy("|u1", 1));
        two.put("b.npy", npy("|u1", 2));
        bytes = zip(ZipEntry.STORED, two);
        buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        first = buffer.getInt(bytes.length - 6);
        int grown = buffer.getInt(first + 20) + 5;
        buffer.putInt(first + 20, grown).putInt(first + 24, grown);
        assertTrue(refusal(file(bytes)).contains("'b.npy' within member 'a.npy'"));
    }

    @Test
    void whatIsNotAnArrayIsRefusedUnderAnArraysNameAndLeftOutUnderAnother() throws IOException {
        assertTrue(refusal(file(zip(ZipEntry.STORED, Map.of("a.npy", new byte[] {1, 2, 3})))).contains("magic"));
        assertTrue(refusal(file(zip(ZipEntry.STORED, Map.of("data.pkl", new byte[] {1, 2, 3}))))
                .contains("none of them an array"));
        assertTrue(refusal(file(zip(ZipEntry.DEFLATED, Map.of("a.npy", npy("|O", 1))))).contains("pickle"));
        assertTrue(refusal(file(zip(ZipEntry.STORED, Map.of("a.npy", npy("<u2", 1))))).contains("member 'a.npy'"));
    }

    @Test
    void anArrayThatCannotBeReadDoesNotAffectTheOthers() throws IOException {
        Map<String, byte[]> members = new LinkedHashMap<>();
        members.put("x.npy", npy("|u1", 1, 2, 3));
        members.put("names.npy", npy("<U3", 1));
        members.put("objects.npy", npy("|O", 1));
        members.put("broken.npy", new byte[] {1, 2, 3});
        members.put("short.npy", npy("<u2", 1));
        members.put("packed.npy", npy("|u1", 9));
        byte[] bytes = zip(ZipEntry.STORED, members);
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int entry = buffer.getInt(bytes.length - 6);
        for (int i = 0; i < 5; i++) {
            entry += 46 + buffer.getShort(entry + 28) + buffer.getShort(entry + 30);
        }
        buffer.putShort(entry + 10, (short) 12);
        Path path = file(bytes);
        try (TensorStore store = TensorStore.open(path)) {
            assertEquals("[x: u8[3]]", store.tensors().toString());
            assertEquals(3, store.tensor(0).getLong(2));
            assertEquals(List.of("names", "objects", "broken", "short", "packed"),
                    List.copyOf(store.unread().keySet()));
            assertTrue(store.unread().get("names").startsWith("member 'names.npy': "), store.unread().toString());
            for (String reason : List.of("'<U3', strings", "pickle", "magic 010203", "the file ends after",
                    "compressed by method 12")) {
                assertTrue(store.unread().values().toString().contains(reason), reason);
            }
        }
        assertTrue(Inspection.of(path, Depth.CONTENT).toMap().get("other_arrays").toString().contains("objects"));
        assertTrue(refusal(file(zip(ZipEntry.STORED, Map.of("n.npy", npy("<U3", 1)))))
                .contains("no array that can be read: [member 'n.npy': "));
    }

    @Test
    void aTypeThatIsToldIsForTheMembersThatDoNotSayTheirs() throws IOException {
        Map<String, byte[]> two = new LinkedHashMap<>();
        two.put("weights.npy", npy("|V1", 1, 2));
        two.put("tokens.npy", npy("|u1", 3));
        Path path = file(zip(ZipEntry.DEFLATED, two));
        try (TensorStore store = TensorStore.open(path)) {
            assertEquals("[tokens: u8[1]]", store.tensors().toString());
            assertTrue(store.unread().get("weights").contains("uninterpreted bytes"), store.unread().toString());
        }
        try (TensorStore store = TensorStore.open(path, OpenOptions.DEFAULT.withDType(DType.F8E5M2))) {
            assertEquals(List.of(DType.F8E5M2, DType.U8), store.tensors().stream().map(spec -> spec.dtype()).toList());
            assertEquals(3, store.tensor(1).getLong(0));
        }
    }

    @Test
    void deflatedContentThatIsNotWhatTheDirectorySaysIsRefusedWhenItIsDecoded() throws IOException {
        byte[] content = npy("|u1", new int[5000]);
        byte[] bytes = zip(ZipEntry.DEFLATED, Map.of("a.npy", content));
        List<String> messages = new ArrayList<>();
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int entry = buffer.getInt(bytes.length - 6);
        for (int[] change : new int[][] {{entry + 16, 12345}, {entry + 24, content.length + 100},
            {entry + 24, content.length - 10}}) {
            int original = buffer.getInt(change[0]);
            buffer.putInt(change[0], change[1]);
            messages.add(decodingFailure(file(bytes)));
            buffer.putInt(change[0], original);
        }
        int dataEnd = 30 + "a.npy".length() + buffer.getInt(entry + 20);
        bytes[dataEnd - 3] ^= 0x55;
        messages.add(decodingFailure(file(bytes)));
        assertTrue(messages.get(0).contains("CRC-32"), messages.get(0));
        assertTrue(messages.get(1).contains("as the directory says"), messages.get(1));
        assertTrue(messages.get(2).contains("5000") || messages.get(2).contains("directory says"), messages.get(2));
        assertFalse(messages.get(3).isEmpty());
    }

    private static String decodingFailure(Path path) throws IOException {
        String inspected =
                assertThrows(MalformedStoreException.class, () -> Inspection.of(path, Depth.CONTENT)).getMessage();
        try (TensorStore store = TensorStore.open(path)) {
            for (int attempt = 0; attempt < 2; attempt++) {
                assertEquals(inspected, assertThrows(MalformedStoreException.class, () -> store.tensor(0))
                        .getMessage());
            }
        } catch (MalformedStoreException atOpen) {
            assertEquals(inspected, atOpen.getMessage());
        }
        return inspected;
    }

    @Test
    void aMemberThatClaimsMoreThanDeflateCanMakeIsRefusedBeforeAnythingIsAllocated() throws IOException {
        byte[] bytes = zip(ZipEntry.DEFLATED, Map.of("a.npy", npy("|u1", 1, 2, 3)));
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        buffer.putInt(buffer.getInt(bytes.length - 6) + 24, 2_000_000_000);
        assertTrue(refusal(file(bytes)).contains("at most 1032 times"));
    }
}
