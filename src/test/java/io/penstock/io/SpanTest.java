// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class SpanTest {

    @Test
    void aPartStaysWithinItsWhole() {
        Span whole = new Span();
        Span part = new Span();
        whole.set(MemorySegment.ofArray(new byte[100]), 20, 30);
        part.setPart(whole, 5, 25);
        assertEquals(whole.segment(), part.segment());
        assertEquals(25, part.byteOffset());
        assertEquals(25, part.byteSize());
        part.setPart(whole, 30, 0);
        assertEquals(0, part.byteSize());
        assertThrows(IndexOutOfBoundsException.class, () -> part.setPart(whole, 5, 26));
        assertThrows(IndexOutOfBoundsException.class, () -> part.setPart(whole, -1, 2));
        assertThrows(IndexOutOfBoundsException.class, () -> part.setPart(whole, 1, -1));
    }
}
