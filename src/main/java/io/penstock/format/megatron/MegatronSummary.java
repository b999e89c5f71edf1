// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.megatron;

import io.penstock.memory.DType;

/**
 * What a {@link MegatronWriter} wrote.
 *
 * @param dtype the stored type of the tokens
 * @param documents the number of documents
 * @param tokens the number of tokens
 * @param tokenSha256 the SHA-256 of the {@code .bin}, 64 hexadecimal digits
 * @param indexBytes the size of the {@code .idx}
 * @param indexSha256 the SHA-256 of the {@code .idx}, 64 hexadecimal digits
 */
public record MegatronSummary(DType dtype, long documents, long tokens, String tokenSha256, long indexBytes,
        String indexSha256) {
}
