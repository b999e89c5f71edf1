/**
 * Tokenizes text: reads text and JSON-lines files, encodes their documents with a byte-pair tokenizer, and writes a
 * token store.
 *
 * <p>This package is optional for the engine: it needs the jtokkit library, and zstd-jni for {@code .zst} files.
 */
@NullMarked
package io.penstock.tokenize;

import org.jspecify.annotations.NullMarked;
