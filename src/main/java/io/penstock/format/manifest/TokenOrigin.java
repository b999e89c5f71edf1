// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.manifest;

import java.util.regex.Pattern;

/**
 * Which tokenizer made the tokens of a part. All parts of a manifest have the same.
 *
 * @param tokenizer the tokenizer's name, for people
 * @param vocabularySha256 the digest of its vocabulary, 64 hexadecimal digits; it alone decides whether two parts have
 *     the same tokenizer
 */
public record TokenOrigin(String tokenizer, String vocabularySha256) {

    static final Pattern SHA256 = Pattern.compile("[0-9a-f]{64}");

    /**
     * Checks the digest.
     *
     * @throws IllegalArgumentException if it is not 64 hexadecimal digits
     */
    public TokenOrigin {
        if (!SHA256.matcher(vocabularySha256).matches()) {
            throw new IllegalArgumentException("vocabulary_sha256: found '" + vocabularySha256
                    + "', expected 64 hexadecimal digits");
        }
    }

    @Override
    public String toString() {
        return tokenizer + " (" + vocabularySha256.substring(0, 12) + "…)";
    }
}
