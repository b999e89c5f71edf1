package io.penstock.format.image;

import io.penstock.format.Fingerprint;
import io.penstock.format.Mapping;
import io.penstock.image.ImageException;
import io.penstock.image.ImageHeader;
import io.penstock.image.ImageReader;
import io.penstock.image.JpegLibrary;
import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.io.file.Sha256;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Inspection;
import io.penstock.store.Progress;
import io.penstock.store.StoreInfo;
import io.penstock.store.StoredArray;
import io.penstock.store.TensorStore;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The pixels of a JPEG or a PNG, decoded when it is opened: one tensor, height by width by the channels that are
 * stored, {@code u8}, or {@code u16} for a PNG of 16 bits. Gray of fewer bits is spread over 0 to 255; a palette's
 * indices are as stored; CMYK has 255 for all of the ink. It is not turned upright.
 *
 * <p>Many images are records of another store, and an {@link io.penstock.decode decoder} makes them one size.
 */
final class ImageStore implements TensorStore, StoreInfo.Described {

    private static final long ALIGNMENT_BYTES = 64;

    private final MappedFile file;
    private final Arena arena;
    private final Picture picture;
    private final TensorSpec spec;
    private final Tensor tensor;
    private volatile String fingerprint;

    private ImageStore(MappedFile file, long maxPixels) throws IOException {
        this.file = file;
        this.arena = Arena.ofShared();
        try (Arena copies = Arena.ofConfined();
                ImageReader reader = new ImageReader(JpegLibrary.preferred(), maxPixels)) {
            MemorySegment copy = copies.allocate(file.byteSize(), ALIGNMENT_BYTES).copyFrom(file.segment());
            ImageHeader header = reader.read(copy, file.byteSize());
            MemorySegment pixels = arena.allocate(header.storedByteSize(), ALIGNMENT_BYTES);
            reader.decodeStored(pixels, 0);
            this.picture = Picture.of(header);
            this.spec = new TensorSpec("", header.bits() == 16 ? DType.U16 : DType.U8, header.height(), header.width(),
                    header.layout().channels());
            this.tensor = Tensor.of(pixels.asReadOnly(), spec.dtype(), spec.shape());
        } catch (ImageException e) {
            arena.close();
            throw malformed(file.location(), e);
        } catch (OutOfMemoryError e) {
            arena.close();
            throw new IOException(file.location() + ": no memory for the image and its pixels", e);
        } catch (Throwable t) {
            arena.close();
            throw t;
        }
    }

    private static MalformedStoreException malformed(Location path, ImageException e) {
        return e.byteOffset() < 0 ? new MalformedStoreException(path, e.found(), e.expected())
                : new MalformedStoreException(path, e.byteOffset(), e.found(), e.expected());
    }

    /** Opens and decodes an image of at most so many pixels, width by height. */
    static ImageStore open(Location path, long maxPixels) throws IOException {
        return Mapping.open(path, file -> new ImageStore(file, maxPixels));
    }

    @Override
    public List<TensorSpec> tensors() {
        return List.of(spec);
    }

    @Override
    public Tensor tensor(int index) {
        Objects.checkIndex(index, 1);
        return tensor;
    }

    @Override
    public void locate(int index, long firstRow, long rows, Span into) {
        Objects.checkIndex(index, 1);
        if (firstRow < 0 || rows < 0 || rows > spec.dim(0) - firstRow) {
            throw new IndexOutOfBoundsException(file.location() + ": rows from " + firstRow + ", " + rows
                    + " of them, are not within the image's 0 to " + spec.dim(0));
        }
        into.set(tensor.segment(), firstRow * spec.rowBytes(), rows * spec.rowBytes());
    }

    @Override
    public boolean isConverted(int index) {
        Objects.checkIndex(index, 1);
        return true;
    }

    @Override
    public String fingerprint() {
        if (fingerprint == null) {
            fingerprint = "images:" + spec.dtype() + "[" + spec.dim(0) + "," + spec.dim(1) + "," + spec.dim(2)
                    + "]:sha256=" + new Fingerprint().add(file).hex();
        }
        return fingerprint;
    }

    @Override
    public StoreInfo info() {
        return new StoreInfo("images", List.of(file.location()), details(picture.toMap()),
                List.of(new StoredArray("", tensor)));
    }

    private Map<String, Object> details(Map<String, Object> image) {
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("format", picture.format().toString());
        details.put("image", image);
        return details;
    }

    /**
     * Says what the image is, in Pillow's terms, and on demand the digests of its pixels: as Pillow has them when it
     * opens the image, with 8 bits a channel but for gray of 16; of an image that has an orientation upright too; of
     * one that is not plain gray or RGB converted to RGB too.
     */
    @Override
    public Inspection inspect(Inspection.Depth depth, Progress progress) throws IOException {
        Map<String, Object> image = picture.toMap();
        if (depth.digests()) {
            try (Arena scratch = Arena.ofConfined(); ImageReader reader = new ImageReader(JpegLibrary.preferred(),
                    Long.MAX_VALUE)) {
                MemorySegment copy = scratch.allocate(file.byteSize(), ALIGNMENT_BYTES).copyFrom(file.segment());
                ImageHeader header = reader.read(copy, file.byteSize());
                picture.digest(image, tensor.segment(), reader, header, scratch);
            } catch (ImageException e) {
                throw malformed(file.location(), e);
            } catch (OutOfMemoryError e) {
                throw new IOException(file.location() + ": no memory for the image's digests", e);
            }
            progress.update(tensor.byteSize(), tensor.byteSize());
        }
        StoredArray array = info().arrays().getFirst();
        return new Inspection(file.location(), "images", List.of(file.location()), details(image), List.of(
                new Inspection.Array("", spec.dtype(), array.storedDtype(),
                        List.of(spec.dim(0), spec.dim(1), spec.dim(2)), null, tensor.byteSize(),
                        depth.digests() ? Sha256.hex(tensor.segment(), _ -> { }) : null, null)));
    }

    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
        file.close();
    }

    @Override
    public String toString() {
        return file.location() + " (" + picture.format() + " " + picture.width() + "x" + picture.height() + ")";
    }
}
