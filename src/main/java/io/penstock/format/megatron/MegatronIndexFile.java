// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.megatron;

import io.penstock.io.publish.SpoolFile;
import io.penstock.io.publish.StagingFolder;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import io.penstock.store.TokenContent;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/** Writes the {@code .idx} of a store from the sequence lengths of its parts; {@link MegatronIndex} has the layout. */
record MegatronIndexFile(StagingFolder staging, List<MegatronPart> parts) {

    private static final int BUFFER_BYTES = 1 << 20;

    /** Receives the length of each sequence in order, and whether its document ends with it. */
    @FunctionalInterface
    private interface Visitor {
        void visit(int length, boolean endsDocument) throws IOException;
    }

    /** Writes and flushes the file. */
    void write(String name, Path target, DType dtype, TokenContent content) throws IOException {
        try (SpoolFile file = new SpoolFile(staging.create(name), target, BUFFER_BYTES)) {
            file.put(MemorySegment.ofArray(MegatronIndex.MAGIC), 0, MegatronIndex.MAGIC.length);
            file.putLong(MegatronIndex.VERSION);
            int code = MegatronIndex.codeOf(content, dtype);
            file.put(MemorySegment.ofArray(new byte[] {(byte) code}), 0, 1);
            file.putLong(parts.stream().mapToLong(MegatronPart::sequences).sum());
            file.putLong(parts.stream().mapToLong(MegatronPart::documents).sum() + 1);
            visit((length, _) -> file.putInt(length));
            visit(new Visitor() {
                private long pointer;

                @Override
                public void visit(int length, boolean endsDocument) throws IOException {
                    file.putLong(pointer);
                    pointer += (long) length * dtype.byteSize();
                }
            });
            file.putLong(0);
            visit(new Visitor() {
                private long sequence;

                @Override
                public void visit(int length, boolean endsDocument) throws IOException {
                    sequence++;
                    if (endsDocument) {
                        file.putLong(sequence);
                    }
                }
            });
            file.force();
        }
    }

    private void visit(Visitor visitor) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(BUFFER_BYTES);
            staging.naming(() -> {
                for (MegatronPart part : parts) {
                    visit(part, buffer, visitor);
                }
                return null;
            });
        }
    }

    private void visit(MegatronPart part, MemorySegment lengths, Visitor visitor) throws IOException {
        ByteBuffer buffer = lengths.asByteBuffer();
        Path file = staging.resolve(part.lengthName());
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            for (long left = part.sequences(); left > 0; ) {
                int count = (int) Math.min(left, BUFFER_BYTES / Integer.BYTES);
                readFully(file, channel, buffer.clear().limit(count * Integer.BYTES));
                for (int i = 0; i < count; i++) {
                    int length = lengths.get(LittleEndian.I32, (long) i * Integer.BYTES);
                    visitor.visit(length < 0 ? ~length : length, length >= 0);
                }
                left -= count;
            }
        }
    }

    private static void readFully(Path file, FileChannel channel, ByteBuffer buffer) throws IOException {
        try {
            while (buffer.hasRemaining()) {
                if (channel.read(buffer) < 0) {
                    throw new IOException("the file was cut while the store was written");
                }
            }
        } catch (IOException e) {
            throw SpoolFile.unreadable(file, channel.isOpen() ? channel.position() : 0, e);
        }
    }
}
