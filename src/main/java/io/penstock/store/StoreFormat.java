package io.penstock.store;

import io.penstock.format.arrow.ArrowStore;
import io.penstock.format.datatrove.DatatroveStore;
import io.penstock.format.files.FilesStore;
import io.penstock.format.hdf5.Hdf5Store;
import io.penstock.format.image.ImageStore;
import io.penstock.format.llmc.LlmcStore;
import io.penstock.format.lmdb.LmdbStore;
import io.penstock.format.mds.MdsStore;
import io.penstock.format.megatron.MegatronStore;
import io.penstock.format.nanogpt.NanogptStore;
import io.penstock.format.npy.NpyStore;
import io.penstock.format.npz.NpzStore;
import io.penstock.format.parquet.ParquetStore;
import io.penstock.format.raw.RawStore;
import io.penstock.format.safetensors.SafetensorsStore;
import io.penstock.format.webdataset.ShardList;
import io.penstock.format.webdataset.WebDatasetStore;
import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.memory.DType;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.Arrays;
import java.util.Locale;

/**
 * The formats of stores, in the order in which they are looked for: first by content, in all of them, then by the files
 * beside it and its name.
 */
public enum StoreFormat {
    /** Megatron-LM's indexed dataset: tokens in {@code .bin}, sequences and documents in {@code .idx}. */
    MEGATRON(true) {
        @Override
        boolean matchesContent(Head head) throws IOException {
            return MegatronStore.isIndex(head.bytes())
                    || head.isFile() && MegatronStore.isIndex(
                    Head.head(MegatronStore.indexOf(head.path())));
        }

        @Override
        boolean matchesName(Head head) throws IOException {
            return MegatronStore.indexOf(head.path()).isFile() && !head.isFolder()
                    && !head.nameEndsWith(".ds");
        }

        @Override
        Store open(Location path, OpenOptions options) throws IOException {
            return MegatronStore.open(path);
        }
    },
    /** llm.c's data files: a header of 256 {@code i32}, then tokens, {@code u16} or {@code u32} by its version. */
    LLMC(true) {
        @Override
        boolean matchesContent(Head head) {
            return LlmcStore.isHeader(head.bytes());
        }

        @Override
        Store open(Location path, OpenOptions options) throws IOException {
            return LlmcStore.open(path);
        }
    },
    /** numpy's array file. */
    NPY(false) {
        @Override
        boolean matchesContent(Head head) {
            return NpyStore.isNpy(head.bytes());
        }

        @Override
        boolean matchesName(Head head) {
            return head.isFile() && head.nameEndsWith(".npy");
        }

        @Override
        Store open(Location path, OpenOptions options) throws IOException {
            return NpyStore.open(path, options.dtype());
        }
    },
    /** numpy's archive of arrays. */
    NPZ(false) {
        @Override
        boolean matchesContent(Head head) {
            return head.startsWith("PK\3\4") || head.startsWith("PK\5\6");
        }

        @Override
        boolean matchesName(Head head) {
            return head.isFile() && head.nameEndsWith(".npz");
        }

        @Override
        Store open(Location path, OpenOptions options) throws IOException {
            return NpzStore.open(path, options.dtype(), options.decodeLimit());
        }
    },
    /** Hugging Face's tensor files, and the index of several of them. */
    SAFETENSORS(false) {
        @Override
        boolean matchesContent(Head head) {
            return SafetensorsStore.isSafetensors(head.bytes());
        }

        @Override
        boolean matchesName(Head head) throws IOException {
            return head.isFile() && SafetensorsStore.isNamedSo(head.name())
                    || !head.filesEnding(".safetensors.index.json").isEmpty()
                    || !head.filesEnding(".safetensors").isEmpty();
        }

        @Override
        Store open(Location path, OpenOptions options) throws IOException {
            return SafetensorsStore.open(path);
        }
    },
    /** HDF5, with or without a user block before it. */
    HDF5(false) {
        @Override
        boolean matchesContent(Head head) {
            return Hdf5Store.isHdf5(head.bytes());
        }

        @Override
        boolean matchesName(Head head) {
            return head.isFile() && head.nameEndsWith(".h5", ".hdf5", ".he5", ".h5ad", ".hdf");
        }

        @Override
        Store open(Location path, OpenOptions options) throws IOException {
            return Hdf5Store.open(path, options.member(), options.decodeLimit());
        }
    },
    /** Arrow's IPC files and streams, and folders of them as Hugging Face's datasets are saved. */
    ARROW(false) {
        @Override
        boolean matchesContent(Head head) throws IOException {
            return ArrowStore.isArrow(head.bytes()) || head.isFolder() && ArrowStore.isDataset(head.path());
        }

        @Override
        boolean matchesName(Head head) throws IOException {
            return head.isFile() && head.nameEndsWith(".arrow", ".arrows", ".feather")
                    || !head.filesEnding(".arrow").isEmpty();
        }

        @Override
        Store open(Location path, OpenOptions options) throws IOException {
            return ArrowStore.open(path, options.member(), options.decodeLimit());
        }
    },
    /** Parquet: tables whose columns are encoded and compressed in row groups; one file, or a folder of them. */
    PARQUET(false) {
        @Override
        boolean matchesContent(Head head) {
            return ParquetStore.isParquet(head.bytes());
        }

        @Override
        boolean matchesName(Head head) throws IOException {
            return head.isFile() && head.nameEndsWith(".parquet") || !head.filesEnding(".parquet").isEmpty();
        }

        @Override
        Store open(Location path, OpenOptions options) throws IOException {
            return ParquetStore.open(path, options.member(), options.decodeLimit());
        }
    },
    /** LMDB's environments: a folder with {@code data.mdb}, or that file under any name. */
    LMDB(false) {
        @Override
        boolean matchesContent(Head head) {
            return LmdbStore.isEnvironment(head.bytes());
        }

        @Override
        boolean matchesName(Head head) throws IOException {
            return head.holds("data.mdb") || head.isFile() && head.nameEndsWith(".mdb", ".lmdb");
        }

        @Override
        Store open(Location path, OpenOptions options) throws IOException {
            return LmdbStore.open(path, options.member());
        }
    },
    /** MosaicML's streaming shards: a folder with {@code index.json}, or that file. */
    MDS(false) {
        @Override
        boolean matchesContent(Head head) throws IOException {
            return MdsStore.isIndex(head.isFolder() ? Head.head(head.path().resolve(MdsStore.INDEX_NAME))
                    : head.bytes());
        }

        @Override
        boolean matchesName(Head head) throws IOException {
            return head.holds(MdsStore.INDEX_NAME) && !head.filesEnding(".mds").isEmpty()
                    || head.isFile() && head.name().equals(MdsStore.INDEX_NAME);
        }

        @Override
        Store open(Location path, OpenOptions options) throws IOException {
            return MdsStore.open(path, null, options.decodeLimit());
        }
    },
    /** WebDataset: samples as files in tars, plain or compressed. */
    WEBDATASET(false) {
        @Override
        boolean matchesContent(Head head) {
            return WebDatasetStore.isTar(head.bytes());
        }

        @Override
        boolean matchesName(Head head) throws IOException {
            return head.isFolder() ? WebDatasetStore.isFolderOfTars(head.path())
                    : ShardList.isShardOrPattern(head.path());
        }

        @Override
        Store open(Location path, OpenOptions options) throws IOException {
            return WebDatasetStore.open(path, options.decodeLimit());
        }
    },
    /** One image, JPEG or PNG. */
    IMAGES(false) {
        @Override
        boolean matchesContent(Head head) {
            return ImageStore.isImage(head.bytes());
        }

        @Override
        boolean matchesName(Head head) {
            return head.isFile() && ImageStore.isImageName(head.name());
        }

        @Override
        Store open(Location path, OpenOptions options) throws IOException {
            return ImageStore.open(path);
        }
    },
    /** datatrove's tokenized files: raw tokens in {@code .ds}, document ends in {@code .ds.index}. */
    DATATROVE(true) {
        @Override
        boolean matchesName(Head head) throws IOException {
            return head.isFile() && (DatatroveStore.indexOf(head.path()).exists() || head.nameEndsWith(".ds")
                    || DatatroveStore.isCompanion(head.path()));
        }

        @Override
        Store open(Location path, OpenOptions options) throws IOException {
            return DatatroveStore.open(path, options.dtype());
        }
    },
    /** Raw little-endian tokens without a header, {@code u16} unless told otherwise, as nanoGPT prepares them. */
    NANOGPT(true) {
        @Override
        boolean matchesName(Head head) {
            return head.isFile() && head.nameEndsWith(".bin");
        }

        @Override
        Store open(Location path, OpenOptions options) throws IOException {
            return NanogptStore.open(path, options.dtype() == null ? DType.U16 : options.dtype());
        }
    },
    /** A folder of files, each of which is a record; of image trees the folders in it are classes. */
    FILES(false) {
        @Override
        boolean matchesName(Head head) throws IOException {
            return head.isFolder() && FilesStore.hasEntries(head.path());
        }

        @Override
        Store open(Location path, OpenOptions options) throws IOException {
            return FilesStore.open(path);
        }
    },
    /** Rows of numbers without a header, of a dtype and a shape that are told; never recognised. */
    RAW(false) {
        @Override
        Store open(Location path, OpenOptions options) throws IOException {
            return RawStore.open(path, options.dtype(), options.shape());
        }
    };

    private final boolean tokens;

    StoreFormat(boolean tokens) {
        this.tokens = tokens;
    }

    /** Whether stores of this format are {@link TokenStore}s. */
    boolean isTokens() {
        return tokens;
    }

    /** Whether the first bytes say that it is this format. */
    boolean matchesContent(Head head) throws IOException {
        return false;
    }

    /** Whether the name, or the files beside it or in the folder, say so, where the bytes say nothing. */
    boolean matchesName(Head head) throws IOException {
        return false;
    }

    /** Opens a store of this format. */
    abstract Store open(Location path, OpenOptions options) throws IOException;

    /**
     * The format that {@link #toString} names so.
     *
     * @param id a lower-case name, for example {@code megatron}
     * @return the format
     * @throws IllegalArgumentException if no format has that name; lists those that are
     */
    public static StoreFormat of(String id) {
        for (StoreFormat format : values()) {
            if (format.toString().equals(id)) {
                return format;
            }
        }
        throw new IllegalArgumentException("unknown format '" + id + "', expected one of "
                + Arrays.toString(values()));
    }

    /**
     * The format of a store by its content, and by its name where the content says nothing.
     *
     * @param path a file or a folder of the store, or the prefix of a Megatron store
     * @return the format that {@link Store#open(Location)} reads it as; it may still turn out malformed
     * @throws IOException if there is no such file, or it cannot be read
     * @throws MalformedStoreException if neither content nor name is that of a store
     */
    public static StoreFormat recognize(Location path) throws IOException {
        Head head = Head.of(path);
        if (!head.isFile() && !head.isFolder() && path.exists()) {
            path.openChannel().close();
        }
        for (StoreFormat format : values()) {
            if (format.matchesContent(head)) {
                return format;
            }
        }
        for (StoreFormat format : values()) {
            if (format.matchesName(head)) {
                return format;
            }
        }
        if (!path.exists()) {
            throw new NoSuchFileException(path.toString(), null, "no such file, and no " + path + ".idx");
        }
        throw new MalformedStoreException(path, head.isFile() ? "no format recognised"
                : "a folder in which no format is recognised",
                "one of " + Arrays.toString(values()) + " (a format can be told)");
    }

    /** The name in lower case, as command line and JSON write it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
