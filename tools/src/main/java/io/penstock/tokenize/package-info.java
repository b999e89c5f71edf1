// SPDX-License-Identifier: Apache-2.0
/**
 * Tokenizes text: encodes and decodes it with a byte-pair tokenizer, and turns text and JSON-lines files into a token
 * store.
 *
 * <p>Vocabularies come from a model's {@code tokenizer.json}, from a file in tiktoken's format, or from the jtokkit
 * library, of which only the published vocabularies are used. Files ending in {@code .zst} need zstd-jni. Both
 * libraries are optional.
 */
@NullMarked
package io.penstock.tokenize;

import org.jspecify.annotations.NullMarked;
