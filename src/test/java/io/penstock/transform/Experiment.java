// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.fail;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Inputs, a transform, and what its outputs must be, by a loop over the definition. */
public final class Experiment {
    /** Enqueues the transform; addresses are those of inputs, then outputs, by name. */
    @FunctionalInterface
    public interface Work {
        void enqueue(Lab lab, Map<String, Long> addresses);

        /** Closes what the work opened, once it has run. */
        default void close() {
        }
    }

    private final String name;
    private final Map<String, byte[]> inputs = new LinkedHashMap<>();
    private final Map<String, byte[]> expected = new LinkedHashMap<>();
    private final Work work;

    public Experiment(String name, Work work) {
        this.name = name;
        this.work = work;
    }

    public Experiment input(String label, Cells cells) {
        inputs.put(label, cells.bytes());
        return this;
    }

    /** Cells of {@link Cells#outputs}, with the elements that must be written set. */
    public Experiment output(String label, Cells cells) {
        expected.put(label, cells.bytes());
        return this;
    }

    public void verify(Lab lab) {
        Map<String, Long> addresses = new LinkedHashMap<>();
        inputs.forEach((label, bytes) -> addresses.put(label, lab.upload(bytes)));
        expected.forEach((label, bytes) -> addresses.put(label, lab.upload(poison(bytes.length))));
        work.enqueue(lab, addresses);
        expected.forEach((label, bytes) -> compare(label, bytes, lab.download(addresses.get(label))));
        inputs.forEach((label, bytes) -> assertArrayEquals(bytes, lab.download(addresses.get(label)),
                () -> name + " wrote its input " + label));
        close();
    }

    /** The same work again and again, over memory that is uploaded once. */
    Runnable repeatable(Lab lab) {
        Map<String, Long> addresses = new LinkedHashMap<>();
        inputs.forEach((label, bytes) -> addresses.put(label, lab.upload(bytes)));
        expected.forEach((label, bytes) -> addresses.put(label, lab.upload(poison(bytes.length))));
        return () -> work.enqueue(lab, addresses);
    }

    /** Closes what the work opened, once it has run. */
    void close() {
        work.close();
    }

    private void compare(String label, byte[] bytes, byte[] found) {
        List<String> differences = new ArrayList<>();
        for (int i = 0; i < bytes.length && differences.size() < 8; i++) {
            if (bytes[i] != found[i]) {
                differences.add("byte %d: %02x, expected %02x".formatted(i, found[i], bytes[i]));
            }
        }
        if (!differences.isEmpty()) {
            fail(name + ", " + label + " of " + bytes.length + " bytes: " + differences);
        }
    }

    private static byte[] poison(int length) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, Cells.POISON);
        return bytes;
    }

    @Override
    public String toString() {
        return name;
    }
}
