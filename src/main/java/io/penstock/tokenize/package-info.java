/**
 * From text to tokens: reads text and JSON-lines files, encodes their documents with a byte-pair tokenizer, and writes
 * a token store.
 *
 * <p>This package serves an edge, not the engine: it needs the jtokkit library, and zstd-jni for {@code .zst} files.
 */
package io.penstock.tokenize;
