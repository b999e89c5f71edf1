// SPDX-License-Identifier: Apache-2.0
/**
 * Token stores in parts that several machines write: each part is a store in Megatron's format, and a manifest, written
 * last, makes them one store. {@code docs/spec/manifest.md} specifies the files.
 *
 * <p>A machine writes a part with a {@link PartWriter}. Whoever knows which parts are to count writes the
 * {@link Manifest}:
 *
 * {@snippet :
 * Tokenizer tokenizer = Tokenizer.of("gpt2");
 * try (PartWriter writer = PartWriter.create(Path.of("out/part-3.attempt-0"), DType.U16,
 *         new TokenOrigin(tokenizer.name(), tokenizer.vocabularySha256()), IfExists.FAIL)) {
 *     MegatronPart documents = writer.documents();
 *     int[] ids = tokenizer.encode("a document");
 *     documents.append(ids, 0, ids.length);
 *     documents.endDocument();
 *     ManifestPart part = writer.commit(Progress.NONE);           // small: part.toJson() is what to send
 *     Manifest.of(List.of(part)).write(Path.of("out/corpus.manifest.json"), IfExists.FAIL);
 * }
 * }
 */
@NullMarked
package io.penstock.format.manifest;

import org.jspecify.annotations.NullMarked;
