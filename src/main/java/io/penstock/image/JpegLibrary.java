package io.penstock.image;

import io.penstock.codec.MissingLibraryException;
import java.util.Locale;

/**
 * What decodes JPEG. The libraries agree to the last bit on images without chroma subsampling, and on others as far as
 * they upsample alike, which libjpeg-turbo and the JDK's libjpeg do.
 */
public enum JpegLibrary {
    /** libjpeg-turbo's {@code libturbojpeg}, where the system has it: several times as fast, and allocates nothing. */
    TURBOJPEG,
    /** The decoder of the JDK, in the module {@code java.desktop}. It does not read arithmetic coding. */
    JDK;

    /** The property that names the library to use: {@code turbojpeg} or {@code jdk}. */
    public static final String PROPERTY = "penstock.jpeg";

    /**
     * The library to use unless told otherwise: what the property {@value #PROPERTY} names, or else the first that is
     * there.
     *
     * @return the library
     * @throws IllegalArgumentException if the property names none
     */
    public static JpegLibrary preferred() {
        String told = System.getProperty(PROPERTY, "");
        return switch (told.toLowerCase(Locale.ROOT)) {
            case "" -> TURBOJPEG.isPresent() ? TURBOJPEG : JDK;
            case "turbojpeg" -> TURBOJPEG;
            case "jdk" -> JDK;
            default -> throw new IllegalArgumentException(PROPERTY + "=" + told + ", expected turbojpeg or jdk");
        };
    }

    /**
     * Whether it can be used here.
     *
     * @return true if its code was found
     */
    public boolean isPresent() {
        return switch (this) {
            case TURBOJPEG -> TurboJpeg.isPresent();
            case JDK -> ModuleLayer.boot().findModule("java.desktop").isPresent();
        };
    }

    /** One thread's decoder. */
    JpegDecoder open() throws MissingLibraryException {
        if (this == TURBOJPEG) {
            return TurboJpeg.open();
        }
        try {
            return new JdkJpeg();
        } catch (NoClassDefFoundError | UnsatisfiedLinkError e) {
            throw new MissingLibraryException("reading JPEG", "libturbojpeg (libjpeg-turbo), or the JDK's module "
                    + "java.desktop", e);
        }
    }
}
