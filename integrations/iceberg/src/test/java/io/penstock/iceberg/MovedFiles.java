// SPDX-License-Identifier: Apache-2.0
package io.penstock.iceberg;

import io.penstock.io.Location;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.io.OutputFile;

/** The files of a table that was moved, for a catalog that says where it was. */
public final class MovedFiles implements FileIO {

    private static final long serialVersionUID = 1;

    private transient LocationFileIO files = new LocationFileIO();

    @Override
    public void initialize(Map<String, String> properties) {
        files = new LocationFileIO(Objects.requireNonNull(properties.get("old")),
                Location.of(Path.of(Objects.requireNonNull(properties.get("new")))));
    }

    @Override
    public InputFile newInputFile(String path) {
        return files.newInputFile(path);
    }

    @Override
    public OutputFile newOutputFile(String path) {
        return files.newOutputFile(path);
    }

    @Override
    public void deleteFile(String path) {
        files.deleteFile(path);
    }
}
