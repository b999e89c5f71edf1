// SPDX-License-Identifier: Apache-2.0
/**
 * Formats of tables, of scientific files, of key-value stores and of shards: Arrow, Parquet, CSV, JSON lines, HDF5,
 * LMDB, WebDataset's tars, MosaicML's shards, folders of files. They are found by {@code Store.open} where this module
 * is.
 */
module io.penstock.formats {
    requires transitive io.penstock;
    requires static org.jspecify;

    exports io.penstock.format.csv;
    exports io.penstock.format.lmdb;
    exports io.penstock.format.mds;
    exports io.penstock.format.webdataset;

    provides io.penstock.store.StoreProvider with
            io.penstock.format.hdf5.Hdf5Provider,
            io.penstock.format.arrow.ArrowProvider,
            io.penstock.format.parquet.ParquetProvider,
            io.penstock.format.lmdb.LmdbProvider,
            io.penstock.format.mds.MdsProvider,
            io.penstock.format.csv.CsvProvider,
            io.penstock.format.csv.JsonLinesProvider,
            io.penstock.format.webdataset.WebDatasetProvider,
            io.penstock.format.files.FilesProvider;
}
