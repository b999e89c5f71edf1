package io.penstock.loader;

/** Told when a lease is over, and its slot free. */
interface LeaseEnd {

    /**
     * One lease is over.
     *
     * @param inDeleter whether the caller is native code, in the deleter of a DLPack tensor: then this must not block
     */
    void ended(boolean inDeleter);
}
