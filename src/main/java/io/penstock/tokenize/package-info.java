// SPDX-License-Identifier: Apache-2.0
/**
 * Tokenizes text: encodes and decodes it with a byte-pair tokenizer, and makes a token store of text and JSON-lines
 * files.
 *
 * <p>Vocabularies come from a model's {@code tokenizer.json}, from a file as tiktoken's, or from the jtokkit library,
 * which has the published ones and of which nothing else is used; {@code .zst} files need zstd-jni. Both libraries are
 * optional.
 */
@NullMarked
package io.penstock.tokenize;

import org.jspecify.annotations.NullMarked;
