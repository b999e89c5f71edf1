// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.safetensors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.memory.DType;
import io.penstock.store.Store;
import io.penstock.store.StoreFormats;
import io.penstock.store.TensorStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every rule of the header, broken once; and what looks odd and is legal, as the format's own library reads it. */
class SafetensorsHeaderTest {

    private static final String WELL_FORMED = "{'a':{'dtype':'F32','shape':[4],'data_offsets':[0,16]}}";

    @TempDir
    private Path folder;

    /** A file of that header, with double quotes for single ones, and 16 bytes behind it. */
    private Path file(String header) throws IOException {
        byte[] text = header.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
        Path path = folder.resolve("x.safetensors");
        Files.write(path, ByteBuffer.allocate(8 + text.length + 16).order(ByteOrder.LITTLE_ENDIAN)
                .putLong(text.length).put(text).array());
        return path;
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
        "[]                                                                         | the start of a JSON object",
        "` {'a':{'dtype':'F32','shape':[4],'data_offsets':[0,16]}}`                 | byte 0x20",
        "{'a':{'dtype':'F32','shape':[4],'data_offsets':[0,16]}}x                   | expected the end",
        "{'a':{'dtype':'F32','shape':[4],'data_offsets':[0,16],'dtype':'F32'}}      | \"dtype\" again",
        "{'__metadata__':{'k':'1','k':'2'},'a':{'dtype':'U8','shape':[16],'data_offsets':[0,16]}} | \"k\" again",
        "{'__metadata__':{'k':1},'a':{'dtype':'U8','shape':[16],'data_offsets':[0,16]}} | __metadata__.k: found 1,",
        "{'__metadata__':{'k':null},'a':{'dtype':'U8','shape':[16],'data_offsets':[0,16]}} | k: found null",
        "{'__metadata__':null,'a':{'dtype':'U8','shape':[16],'data_offsets':[0,16]}} | __metadata__: found null",
        "{'__metadata__':[],'a':{'dtype':'U8','shape':[16],'data_offsets':[0,16]}}  | __metadata__: found an array",
        "{'a':[]}                                                                   | a: found an array",
        "{'a':{'shape':[16],'data_offsets':[0,16]}}                                 | a.dtype: found nothing",
        "{'a':{'dtype':4,'shape':[16],'data_offsets':[0,16]}}                       | a.dtype: found 4",
        "{'a':{'dtype':'f32','shape':[4],'data_offsets':[0,16]}}                    | a.dtype: found 'f32'",
        "{'a':{'dtype':'F4','shape':[31],'data_offsets':[0,16]}}                    | 124 bits of F4",
        "{'a':{'dtype':'F4','shape':[16],'data_offsets':[0,16]}}                    | expected 8 bytes",
        "{'a':{'dtype':'F6_E2M3','shape':[3,5],'data_offsets':[0,16]}}              | 90 bits of F6_E2M3",
        "{'a':{'dtype':'U8','data_offsets':[0,16]}}                                 | a.shape: found nothing",
        "{'a':{'dtype':'U8','shape':16,'data_offsets':[0,16]}}                      | a.shape: found 16,",
        "{'a':{'dtype':'U8','shape':[16.0],'data_offsets':[0,16]}}                  | a.shape[0]: found 16.0",
        "{'a':{'dtype':'U8','shape':['16'],'data_offsets':[0,16]}}                  | a.shape[0]: found '16'",
        "{'a':{'dtype':'U8','shape':[-16],'data_offsets':[0,16]}}                   | a.shape[0]: found -16",
        "{'a':{'dtype':'U8','shape':[-4,-4],'data_offsets':[0,16]}}                 | a.shape[0]: found -4",
        "{'a':{'dtype':'U8','shape':[18446744073709551632],'data_offsets':[0,16]}} | found 18446744073709551632",
        "{'a':{'dtype':'F32','shape':[4611686018427387908],'data_offsets':[0,16]}}  | over 2^63 bytes",
        "{'a':{'dtype':'U8','shape':[4294967296,4294967296,16],'data_offsets':[0,16]}} | over 2^63 bytes",
        "{'a':{'dtype':'U8','shape':[16]}}                                          | a.data_offsets: found nothing",
        "{'a':{'dtype':'U8','shape':[16],'data_offsets':[0]}}                       | has 1 data_offsets",
        "{'a':{'dtype':'U8','shape':[16],'data_offsets':[0,16,16]}}                 | has 3 data_offsets",
        "{'a':{'dtype':'U8','shape':[16],'data_offsets':[16,0]}}                    | data_offsets 16 to 0",
        "{'a':{'dtype':'U8','shape':[16],'data_offsets':[-16,0]}}                   | a.data_offsets[0]: found -16",
        "{'a':{'dtype':'U8','shape':[15],'data_offsets':[1,16]}}                    | begins at 1",
        "{'a':{'dtype':'U8','shape':[16],'data_offsets':[9223372036854775792,9223372036854775807]}} | expected 16",
        "{'a':{'dtype':'U8','shape':[16],'data_offsets':[0,16]},'b':{'dtype':'U8','shape':[0],'data_offsets':[8,8]}}"
            + " | 'b' begins at 8",
        "{'a':{'dtype':'U8','shape':[16],'data_offsets':[0,16]},'b':{'dtype':'U8','shape':[16],'data_offsets':[0,16]}}"
            + " | 'b' begins at 0",
        "{}                                                                         | 16 bytes behind its header"})
    void aHeaderThatBreaksARuleIsRefusedWithWhatIsWrong(String header, String reason) throws IOException {
        Path path = file(header);
        String message = assertThrows(MalformedStoreException.class, () -> Store.open(path)).getMessage();
        assertTrue(message.contains(reason), message);
        assertTrue(message.startsWith(path + ": at byte "), message);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
        "`{'a':{'dtype':'F32','shape':[4],'data_offsets':[0,16]}}     `               | a: f32[4]",
        "{'a':{'dtype':'F32','shape':[4],'data_offsets':[0,16],'later':{'x':[1]}}}    | a: f32[4]",
        "{'':{'dtype':'F64','shape':[1,2,1],'data_offsets':[0,16]}}                   | : f64[1,2,1]",
        "{'\\u0061':{'data_offsets':[0,16],'shape':[16],'dtype':'BOOL'}}              | a: bool[16]",
        "{'z':{'dtype':'U8','shape':[0,3],'data_offsets':[8,8]},'a':{'dtype':'I64','shape':[],'data_offsets':[8,16]},"
            + "'m':{'dtype':'I64','shape':[],'data_offsets':[0,8]}} | a: i64[] m: i64[] z: u8[0,3]"})
    void whatLooksOddAndIsLegalIsRead(String header, String tensors) throws IOException {
        try (TensorStore store = TensorStore.open(file(header))) {
            assertEquals(tensors, String.join(" ", store.tensors().stream().map(Object::toString).toList()));
        }
    }

    @Test
    void aHeaderThatNestsDeeplyIsRefused() throws IOException {
        Path path = file("{'a':" + "[".repeat(1_000_000));
        String message = assertThrows(MalformedStoreException.class, () -> Store.open(path)).getMessage();
        assertTrue(message.contains("nesting"), message);
    }

    @Test
    void namesSortAsUtf8AndNotAsUtf16() throws IOException {
        String one = "':{'dtype':'U8','shape':[8],'data_offsets':[";
        try (TensorStore store = TensorStore.open(file(
                "{'\uD83D\uDE80" + one + "0,8]},'\uFF5E" + one + "8,16]}}"))) {
            assertEquals(List.of("\uFF5E", "\uD83D\uDE80"), store.tensors().stream().map(spec -> spec.name()).toList());
        }
    }

    @Test
    void theFormatIsKnownByContentUnderAnyName() throws IOException {
        Path other = folder.resolve("weights.bin");
        Files.move(file(WELL_FORMED), other);
        assertEquals("safetensors", StoreFormats.recognize(Location.of(other)).name());
        try (TensorStore store = TensorStore.open(other)) {
            assertEquals(DType.F32, store.tensor(0).dtype());
            assertEquals(folder + "/weights.bin (safetensors:tensors=1)", store.toString());
        }
    }
}
