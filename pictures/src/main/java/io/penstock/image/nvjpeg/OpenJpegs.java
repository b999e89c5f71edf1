// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.nvjpeg;

import static io.penstock.image.nvjpeg.FramedImages.PLACE_BYTES;

import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceEvent;
import io.penstock.device.DeviceEvent.EventWait;
import io.penstock.device.DeviceFields;
import io.penstock.device.DeviceStage.OpenStage;
import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import io.penstock.device.internal.RawMemory;
import io.penstock.image.reading.FramedFile;
import io.penstock.internal.Opened;
import io.penstock.memory.SlabLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A {@link JpegStage} on one device. It decodes into scratch memory of its own, in two pieces by turns, as many images
 * at once as one has room for:
 *
 * <pre>
 *   0                              imagesEnd              piece bytes
 *   | images, from the front on    … weights, from the end back | places |
 *
 *   for each group    host waits for p.E_read                     p: the piece whose turn it is
 *                     decode into p;  copy the places to p;  weigh, then write results from p
 *                     record(p.E_read)
 * </pre>
 *
 * <p>The host must wait, not the stream, for {@link NvJpeg} may write ahead of the stream, and is used again only when
 * its work has ended. It waits for the group before the last, so the device has work meanwhile.
 */
final class OpenJpegs implements OpenStage {

    private static final System.Logger LOG = System.getLogger("io.penstock.device");

    /** Scratch memory, the decoder that writes to it, and the table of places that is copied to it. */
    private record Piece(NvJpeg decoder, DeviceBuffer memory, PinnedBuffer places, DeviceEvent read) {
    }

    private final JpegStage stage;
    private final int files;
    private final SlabLayout outputs;
    private final Piece[] pieces = new Piece[2];
    private final long imagesEnd;
    private final MemorySegment arguments = FramedImages.RESULTS.newArguments();
    private final Opened opened = new Opened();
    private int turn;
    /** The group: images of the batch. */
    private int first;
    private int count;

    OpenJpegs(JpegStage stage, Device device, int files, int batch) {
        this.stage = stage;
        this.files = files;
        this.outputs = stage.outputs(batch);
        this.imagesEnd = stage.pieceBytes();
        try {
            for (int i = 0; i < pieces.length; i++) {
                pieces[i] = new Piece(opened.add(NvJpeg.open(device, batch), NvJpeg::close),
                        opened.add(device.allocate(imagesEnd + (long) batch * PLACE_BYTES), DeviceBuffer::close),
                        opened.add(device.allocatePinned((long) batch * PLACE_BYTES), PinnedBuffer::close),
                        opened.add(device.openEvent(EventWait.BLOCK), DeviceEvent::close));
            }
        } catch (Throwable t) {
            opened.closeAfter(t);
            throw t;
        }
        FramedImages.ROW_BYTES.set(arguments, stage.rowBytes());
        FramedImages.HEIGHT.set(arguments, stage.height());
        FramedImages.WIDTH.set(arguments, stage.width());
    }

    @Override
    public SlabLayout outputs() {
        return outputs;
    }

    @Override
    public boolean readsHost() {
        return true;
    }

    @Override
    public void enqueue(DeviceStream stream, DeviceFields in, DeviceFields out) {
        int batch = (int) in.dim(files, 0);
        out.setDim(0, 0, batch);
        out.setDim(1, 0, batch);
        FramedImages.ROWS.set(arguments, in.address(files));
        FramedImages.TARGET.set(arguments, out.address(0));
        FramedImages.DECODED.set(arguments, out.address(1));
        for (first = 0; first < batch; first += count) {
            Piece piece = pieces[turn];
            turn = (turn + 1) % pieces.length;
            piece.read.synchronize();
            list(piece, in.hostAddress(files), batch);
            decode(piece, stream);
            makeResults(piece, stream);
            stream.record(piece.read);
        }
    }

    /** Gives images places until the piece is full: the group. */
    private void list(Piece piece, long host, int batch) {
        piece.decoder.begin();
        long imageEnd = 0;
        long weightsBegin = imagesEnd;
        int image = first;
        for (; image < batch; image++) {
            long row = host + (long) image * stage.rowBytes();
            int fileBytes = FramedFile.fileBytes(RawMemory.all(), row);
            if (fileBytes == 0) {
                setPlace(piece, image, 0, 0);
                continue;
            }
            long end = SlabLayout.align(imageEnd + FramedFile.imageBytes(RawMemory.all(), row));
            long weights = weightsBegin - SlabLayout.align(
                    FramedFile.weightBytes(RawMemory.all(), row, stage.height(), stage.width()));
            if (end > weights) {
                break;
            }
            setPlace(piece, image, imageEnd, weights);
            piece.decoder.add(image, row + FramedFile.HEADER_BYTES, fileBytes, piece.memory.address() + imageEnd,
                    FramedFile.width(RawMemory.all(), row));
            imageEnd = end;
            weightsBegin = weights;
        }
        count = image - first;
        if (count == 0) {
            throw new IllegalStateException("image " + image + " of the batch: found a size that needs more than the "
                    + imagesEnd + " bytes of scratch memory");
        }
    }

    private static void setPlace(Piece piece, int image, long pixels, long weights) {
        MemorySegment places = piece.places.segment();
        places.setAtIndex(ValueLayout.JAVA_LONG, 2L * image, pixels);
        places.setAtIndex(ValueLayout.JAVA_LONG, 2L * image + 1, weights);
    }

    private void decode(Piece piece, DeviceStream stream) {
        NvJpeg decoder = piece.decoder;
        decoder.decode(stream);
        for (int i = 0; i < decoder.damagedCount(); i++) {
            setPlace(piece, decoder.damaged(i), FramedImages.DAMAGED, 0);
        }
        if (decoder.damagedCount() > 0) {
            LOG.log(System.Logger.Level.WARNING, "{0}: {1} damaged JPEG files are black images, marked 0 in {2}",
                    stage.field(), decoder.damagedCount(), stage.field() + JpegStage.DECODED);
        }
    }

    private void makeResults(Piece piece, DeviceStream stream) {
        long begin = (long) first * PLACE_BYTES;
        stream.copyToDevice(piece.memory, imagesEnd + begin, piece.places, begin, (long) count * PLACE_BYTES);
        FramedImages.PLACES.set(arguments, piece.memory.address() + imagesEnd);
        FramedImages.SCRATCH.set(arguments, piece.memory.address());
        FramedImages.FIRST.set(arguments, first);
        FramedImages.COUNT.set(arguments, count);
        FramedImages.enqueue(stream, arguments);
    }

    @Override
    public void close() {
        opened.close();
    }
}
