/**
 * Penstock: a data-loading engine for training on GPUs from the JVM.
 *
 * <p>The engine's packages depend on the JDK alone; the libraries that {@code static} names serve the command line,
 * the tokenizer and other edges, and may be absent.
 */
module io.penstock {
    requires jdk.management;
    requires static jdk.jfr;
    requires static java.desktop;
    requires static jdk.httpserver;
    requires static com.github.luben.zstd_jni;
    requires static info.picocli;
    requires static jtokkit;
    requires static micrometer.core;

    exports io.penstock.codec;
    exports io.penstock.collate;
    exports io.penstock.convert;
    exports io.penstock.dataset;
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
    exports io.penstock.image;
    exports io.penstock.loader;
    exports io.penstock.memory;
    exports io.penstock.sampling;
    exports io.penstock.store;
    exports io.penstock.store.integrity;
    exports io.penstock.tokenize;
    exports io.penstock.transform;
    exports io.penstock.tune;

    opens io.penstock.cli to info.picocli;
    exports io.penstock.store.hdf5;
    exports io.penstock.store.image;
    exports io.penstock.store.lmdb;
    exports io.penstock.store.mds;
    exports io.penstock.store.arrow;
    exports io.penstock.store.megatron;
    exports io.penstock.store.npy;
    exports io.penstock.store.raw;
    exports io.penstock.store.safetensors;
    exports io.penstock.store.parquet;
    exports io.penstock.store.webdataset;
    exports io.penstock.store.files;
}
