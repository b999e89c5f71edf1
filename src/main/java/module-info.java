// SPDX-License-Identifier: Apache-2.0
/**
 * Penstock: a data-loading engine for training on GPUs from the JVM.
 *
 * <p>The engine depends on the JDK alone; {@code static} names what may be absent. Its wings are modules of their own:
 * formats, pictures, media, remote, diagnosis, tools.
 */
module io.penstock {
    requires jdk.management;
    requires static jdk.jfr;
    requires static com.github.luben.zstd_jni;
    requires static org.jspecify;

    exports io.penstock.arrow;
    exports io.penstock.collate;
    exports io.penstock.dataset;
    exports io.penstock.dataset.source;
    exports io.penstock.decode;
    exports io.penstock.device;
    exports io.penstock.dlpack;
    exports io.penstock.error;
    exports io.penstock.format.manifest;
    exports io.penstock.format.megatron;
    exports io.penstock.format.npy;
    exports io.penstock.format.safetensors;
    exports io.penstock.io;
    exports io.penstock.loader;
    exports io.penstock.memory;
    exports io.penstock.sampling;
    exports io.penstock.state;
    exports io.penstock.store;
    exports io.penstock.store.integrity;
    exports io.penstock.stream;
    exports io.penstock.telemetry;
    exports io.penstock.transform;

    // Not API: what the wings still share with the engine. It shrinks; nobody else is given any of it.
    exports io.penstock.codec.decoder to
            io.penstock.formats, io.penstock.tools;
    exports io.penstock.dataset.reading to
            io.penstock.tools;
    exports io.penstock.device.internal to
            io.penstock.media, io.penstock.pictures;
    exports io.penstock.format to
            io.penstock.formats, io.penstock.pictures, io.penstock.tools;
    exports io.penstock.format.numpy to
            io.penstock.tools;
    exports io.penstock.internal to
            io.penstock.formats, io.penstock.media, io.penstock.pictures, io.penstock.remote, io.penstock.tools;
    exports io.penstock.io.local to
            io.penstock.diagnosis, io.penstock.formats, io.penstock.remote, io.penstock.tools;
    exports io.penstock.io.publish to
            io.penstock.diagnosis, io.penstock.formats, io.penstock.media, io.penstock.pictures, io.penstock.remote,
            io.penstock.tools;
    exports io.penstock.json to
            io.penstock.diagnosis, io.penstock.formats, io.penstock.pictures, io.penstock.remote, io.penstock.tools;
    exports io.penstock.os to
            io.penstock.diagnosis, io.penstock.formats, io.penstock.media, io.penstock.pictures, io.penstock.remote,
            io.penstock.tools;
    exports io.penstock.text to
            io.penstock.diagnosis, io.penstock.formats, io.penstock.pictures, io.penstock.remote, io.penstock.tools;

    uses io.penstock.device.DeviceProvider;
    uses io.penstock.io.FileSource.Provider;
    uses io.penstock.store.StoreProvider;
    uses io.penstock.stream.StreamSource.SourceProvider;

    provides io.penstock.device.DeviceProvider with
            io.penstock.device.host.HostProvider,
            io.penstock.device.cuda.CudaProvider;

    provides io.penstock.store.StoreProvider with
            io.penstock.format.megatron.MegatronProvider,
            io.penstock.format.manifest.ManifestProvider,
            io.penstock.format.tokens.LlmcProvider,
            io.penstock.format.npy.NpyProvider,
            io.penstock.format.numpy.NpzProvider,
            io.penstock.format.safetensors.SafetensorsProvider,
            io.penstock.format.tokens.DatatroveProvider,
            io.penstock.format.tokens.NanogptProvider,
            io.penstock.format.tokens.RawProvider;
}
