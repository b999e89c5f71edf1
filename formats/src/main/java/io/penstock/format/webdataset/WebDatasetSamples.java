// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import io.penstock.store.IfExists;
import io.penstock.store.StoreWriter;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Writes converted samples to tars; a target such as {@code out-{000000}.tar} is a pattern of several. */
final class WebDatasetSamples implements StoreWriter.OfSamples {

    @Override
    public List<String> endings() {
        return List.of(".tar");
    }

    @Override
    public boolean isNumbered(Path target) {
        return ShardPattern.of(target).isNumbered();
    }

    @Override
    public StoreWriter.SampleSink create(Path target, long maxSamples, long maxBytes, IfExists ifExists)
            throws IOException {
        ShardPattern pattern = ShardPattern.of(target);
        WebDatasetWriter writer = WebDatasetWriter.create(pattern.path(), maxSamples, maxBytes);
        try {
            Tars tars = new Tars(pattern, writer, ifExists);
            tars.requireAbsent();
            return tars;
        } catch (IOException | RuntimeException e) {
            writer.close();
            throw e;
        }
    }

    private record Tars(ShardPattern pattern, WebDatasetWriter writer, IfExists ifExists)
            implements StoreWriter.SampleSink {

        void requireAbsent() throws IOException {
            if (ifExists == IfExists.FAIL) {
                pattern.requireAbsent();
            }
        }

        @Override
        public void write(String key, Map<String, MemorySegment> files) throws IOException {
            writer.write(key, files);
        }

        @Override
        public List<Path> commit() throws IOException {
            requireAbsent();
            return writer.commit().stream().map(shard -> pattern.path().resolveSibling(shard.getFileName())).toList();
        }

        @Override
        public void close() throws IOException {
            writer.close();
        }
    }
}
