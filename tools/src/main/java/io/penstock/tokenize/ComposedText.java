// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A text in Unicode's normalization form C, and where its bytes come from.
 *
 * @param utf8 the normalized text
 * @param sources for each of its bytes, the byte of the source at which the characters begin that became it; null if
 *     nobody asked, or the text was normalized already
 * @param from the first byte of the source
 */
record ComposedText(byte[] utf8, int @Nullable [] sources, int from) {

    static ComposedText of(byte[] source, int from, int end, boolean withSources) {
        String text = new String(source, from, end - from, StandardCharsets.UTF_8);
        if (Normalizer.isNormalized(text, Normalizer.Form.NFC)) {
            return new ComposedText(Arrays.copyOfRange(source, from, end), null, from);
        }
        byte[] whole = composed(text);
        return new ComposedText(whole, withSources ? sources(text, whole, from) : null, from);
    }

    private static byte[] composed(String text) {
        return Normalizer.normalize(text, Normalizer.Form.NFC).getBytes(StandardCharsets.UTF_8);
    }

    /** Normalizes one cluster of characters after another: what composes stays in one. */
    private static int[] sources(String text, byte[] whole, int from) {
        int[] sources = new int[whole.length];
        int at = 0;
        int source = from;
        for (int begin = 0; begin < text.length(); ) {
            int next = endOfCluster(text, begin);
            String cluster = text.substring(begin, next);
            int end = Math.min(whole.length, at + composed(cluster).length);
            Arrays.fill(sources, at, end, source);
            byte[] bytes = cluster.getBytes(StandardCharsets.UTF_8);
            for (int back = 1; back <= Math.min(end - at, bytes.length)
                    && whole[end - back] == bytes[bytes.length - back]; back++) {
                sources[end - back] = source + bytes.length - back;
            }
            at = end;
            source += bytes.length;
            begin = next;
        }
        return sources;
    }

    private static int endOfCluster(String text, int begin) {
        int end = begin + Character.charCount(text.codePointAt(begin));
        while (end < text.length()) {
            int character = text.codePointAt(end);
            int next = end + Character.charCount(character);
            if (!isMark(character) && !composes(text.substring(begin, end), text.substring(end, next))) {
                return end;
            }
            end = next;
        }
        return end;
    }

    private static boolean isMark(int character) {
        int type = Character.getType(character);
        return type == Character.NON_SPACING_MARK || type == Character.COMBINING_SPACING_MARK
                || type == Character.ENCLOSING_MARK;
    }

    /** Tells whether two texts become another one together, as Korean syllables do. */
    private static boolean composes(String first, String second) {
        return !Normalizer.isNormalized(first + second, Normalizer.Form.NFC)
                && Normalizer.isNormalized(second, Normalizer.Form.NFC)
                && !Normalizer.normalize(first + second, Normalizer.Form.NFC).equals(
                        Normalizer.normalize(first, Normalizer.Form.NFC) + second);
    }

    /** Returns the byte of the source that became a byte of this text; the end for the end. */
    int source(int at) {
        int[] known = sources;
        return known == null ? from + at : at < known.length ? known[at] : from + at;
    }
}
