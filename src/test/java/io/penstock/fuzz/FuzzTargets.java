// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * What one process fuzzes: a target, or several, since a process takes longer to start than a build's inputs of one
 * target take to run. Where they are several, the first byte of an input chooses the target, which gets the others.
 */
final class FuzzTargets {

    private final List<String> names;
    private final List<FuzzTarget> targets;
    private final long most;
    /** The inputs that each has run. */
    private final long[] counts;

    /**
     * Targets by the simple names of their classes.
     *
     * @param most of its inputs, a target runs so many; it ignores the others, so that they are tries at other targets
     */
    FuzzTargets(List<String> names, long most) {
        this.names = names;
        this.most = most;
        this.targets = names.stream().map(FuzzTarget::of).toList();
        this.counts = new long[names.size()];
    }

    /** How large an input may become. */
    int maxBytes() {
        int most = targets.stream().mapToInt(FuzzTarget::maxBytes).max().orElseThrow();
        return targets.size() == 1 ? most : most + 1;
    }

    /** The input that gives some bytes to one of the targets. */
    byte[] inputFor(int target, byte[] bytes) {
        if (targets.size() == 1) {
            return bytes;
        }
        byte[] input = new byte[1 + bytes.length];
        input[0] = (byte) target;
        System.arraycopy(bytes, 0, input, 1, bytes.length);
        return input;
    }

    /** The target that gets an input, by its index. */
    int targetOf(byte[] input) {
        return targets.size() == 1 || input.length == 0 ? 0 : Byte.toUnsignedInt(input[0]) % targets.size();
    }

    /** What that target gets of it. */
    byte[] bytesOf(byte[] input) {
        int begin = targets.size() == 1 || input.length == 0 ? 0 : 1;
        return Arrays.copyOfRange(input, begin,
                Math.min(input.length, begin + targets.get(targetOf(input)).maxBytes()));
    }

    /** Has the target of an input run it, each in a folder of its own. */
    void run(byte[] input, Path folder) throws IOException {
        int target = targetOf(input);
        if (counts[target] == most) {
            return;
        }
        Path inputs = folder.resolve(names.get(target));
        if (counts[target]++ == 0) {
            Files.createDirectories(inputs);
        }
        targets.get(target).run(bytesOf(input), inputs);
    }

    /** A line a target with its name and how many inputs it has run, as {@link JazzerRun.Result#inputs} reads it. */
    String summary() {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < counts.length; i++) {
            lines.append("inputs of ").append(names.get(i)).append(": ").append(counts[i]).append('\n');
        }
        return lines.toString();
    }
}
