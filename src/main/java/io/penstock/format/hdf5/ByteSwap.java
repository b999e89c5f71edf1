package io.penstock.format.hdf5;

import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;

/** Turns numbers round in place, from one byte order to the other. */
final class ByteSwap {

    private ByteSwap() {
    }

    static void swap(MemorySegment numbers, int elementBytes) {
        long bytes = numbers.byteSize();
        switch (elementBytes) {
            case 2 -> {
                for (long at = 0; at < bytes; at += 2) {
                    numbers.set(LittleEndian.I16, at, Short.reverseBytes(numbers.get(LittleEndian.I16, at)));
                }
            }
            case 4 -> {
                for (long at = 0; at < bytes; at += 4) {
                    numbers.set(LittleEndian.I32, at, Integer.reverseBytes(numbers.get(LittleEndian.I32, at)));
                }
            }
            case 8 -> {
                for (long at = 0; at < bytes; at += 8) {
                    numbers.set(LittleEndian.I64, at, Long.reverseBytes(numbers.get(LittleEndian.I64, at)));
                }
            }
            default -> { }
        }
    }
}
