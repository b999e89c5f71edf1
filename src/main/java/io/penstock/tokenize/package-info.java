// SPDX-License-Identifier: Apache-2.0
/**
 * Tokenizes text: encodes and decodes it with a byte-pair tokenizer, and makes a token store of text and JSON-lines
 * files.
 *
 * <p>The published vocabularies are in the jtokkit library, of which nothing else is used; {@code .zst} files need
 * zstd-jni. Both are optional.
 */
@NullMarked
package io.penstock.tokenize;

import org.jspecify.annotations.NullMarked;
