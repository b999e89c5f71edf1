// SPDX-License-Identifier: Apache-2.0
/**
 * Penstock: a data-loading engine for training on GPUs from the JVM.
 *
 * <p>The engine's packages depend on the JDK alone; the libraries that {@code static} names serve the command line,
 * the tokenizer and other edges, and may be absent.
 */
module io.penstock {
    requires java.net.http;
    requires java.xml;
    requires jdk.management;
    requires static jdk.jfr;
    requires static java.desktop;
    requires static jdk.httpserver;
    requires static com.github.luben.zstd_jni;
    requires static info.picocli;
    requires static jtokkit;
    requires static micrometer.core;
    requires static org.jspecify;

    exports io.penstock.augment;
    exports io.penstock.augment.value;
    exports io.penstock.codec;
    exports io.penstock.collate;
    exports io.penstock.convert;
    exports io.penstock.dataset;
    exports io.penstock.dataset.source;
    exports io.penstock.decode;
    exports io.penstock.device;
    exports io.penstock.diagnose;
    exports io.penstock.diagnose.alert;
    exports io.penstock.diagnose.compare;
    exports io.penstock.diagnose.data;
    exports io.penstock.diagnose.html;
    exports io.penstock.diagnose.metrics;
    exports io.penstock.diagnose.micrometer;
    exports io.penstock.diagnose.trace;
    exports io.penstock.dlpack;
    exports io.penstock.format.files;
    exports io.penstock.format.lmdb;
    exports io.penstock.format.manifest;
    exports io.penstock.format.mds;
    exports io.penstock.format.megatron;
    exports io.penstock.format.npy;
    exports io.penstock.format.raw;
    exports io.penstock.format.safetensors;
    exports io.penstock.format.webdataset;
    exports io.penstock.image;
    exports io.penstock.io;
    exports io.penstock.io.remote;
    exports io.penstock.loader;
    exports io.penstock.memory;
    exports io.penstock.sampling;
    exports io.penstock.store;
    exports io.penstock.store.integrity;
    exports io.penstock.stream;
    exports io.penstock.telemetry;
    exports io.penstock.tokenize;
    exports io.penstock.transform;
    exports io.penstock.tune;

    uses io.penstock.device.DeviceProvider;
    uses io.penstock.io.FileSource.Provider;
    uses io.penstock.io.remote.S3CredentialsProvider;
    provides io.penstock.io.FileSource.Provider with
            io.penstock.io.remote.RemoteProvider.Hf,
            io.penstock.io.remote.RemoteProvider.Http,
            io.penstock.io.remote.RemoteProvider.Https,
            io.penstock.io.remote.RemoteProvider.S3;

    provides io.penstock.device.DeviceProvider with
            io.penstock.device.host.HostProvider, io.penstock.device.cuda.CudaProvider;

    uses io.penstock.store.StoreProvider;
    uses io.penstock.stream.StreamSource.SourceProvider;
    provides io.penstock.store.StoreProvider with
            io.penstock.format.megatron.MegatronProvider,
            io.penstock.format.manifest.ManifestProvider,
            io.penstock.format.llmc.LlmcProvider,
            io.penstock.format.npy.NpyProvider,
            io.penstock.format.npz.NpzProvider,
            io.penstock.format.safetensors.SafetensorsProvider,
            io.penstock.format.hdf5.Hdf5Provider,
            io.penstock.format.arrow.ArrowProvider,
            io.penstock.format.parquet.ParquetProvider,
            io.penstock.format.lmdb.LmdbProvider,
            io.penstock.format.mds.MdsProvider,
            io.penstock.format.webdataset.WebDatasetProvider,
            io.penstock.format.image.ImageProvider,
            io.penstock.format.datatrove.DatatroveProvider,
            io.penstock.format.nanogpt.NanogptProvider,
            io.penstock.format.files.FilesProvider,
            io.penstock.format.raw.RawProvider;

    opens io.penstock.cli to info.picocli;
}
