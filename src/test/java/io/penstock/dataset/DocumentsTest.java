// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.testing.Fields;
import io.penstock.testing.NoTokens;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DocumentsTest {

    private static final long[] STARTS = {0, 0, 3, 3, 10, 14, 14};

    private static List<List<Long>> ranges(Dataset documents) {
        Span span = new Span();
        return LongStream.range(0, documents.size()).mapToObj(document -> {
            Fields.locate(documents, document, 0, span);
            return List.of(span.byteOffset(), span.byteSize());
        }).toList();
    }

    @Test
    void aSampleIsADocumentAndMayBeEmpty() {
        var documents = Documents.of(new NoTokens(STARTS));
        assertEquals(List.of(List.of(0L, 0L), List.of(0L, 3L), List.of(3L, 0L), List.of(3L, 7L), List.of(10L, 4L),
                List.of(14L, 0L)), ranges(documents));
        assertEquals(List.of(new TensorSpec("tokens", DType.U8, TensorSpec.VARIABLE)), documents.fields());
        assertEquals(7, documents.maxLength(0));
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "3, 3", "4, 4", "6, 6", "7, 7", "8, 7"})
    void aDocumentIsCutToItsFirstTokens(long maxTokens, long longest) {
        var documents = Documents.of(new NoTokens(STARTS), maxTokens);
        List<List<Long>> expected = LongStream.range(0, 6).mapToObj(d -> List.of(STARTS[(int) d],
                Math.min(maxTokens, STARTS[(int) d + 1] - STARTS[(int) d]))).toList();
        assertEquals(expected, ranges(documents));
        assertEquals(longest, documents.maxLength(0));
        assertEquals(longest, documents.maxLength(0));
    }

    @Test
    void documentsThatAreNotThereAndLimitsBelowOneAreRefused() {
        var documents = Documents.of(new NoTokens(STARTS));
        assertEquals("document 6 of 6", assertThrows(IndexOutOfBoundsException.class,
                () -> Fields.locate(documents, 6, 0, new Span())).getMessage());
        assertThrows(IndexOutOfBoundsException.class, () -> Fields.locate(documents, -1, 0, new Span()));
        assertEquals("documents cut to 0 tokens: at least 1 is needed", assertThrows(IllegalArgumentException.class,
                () -> Documents.of(new NoTokens(STARTS), 0)).getMessage());
        assertEquals(0, Documents.of(new NoTokens(0)).size());
        assertEquals(0, Documents.of(new NoTokens(0)).maxLength(0));
    }
}
